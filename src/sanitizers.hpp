// Detects the sanitizer with which this code is compiled. GCC defines a macro for each; Clang has
// __has_feature.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define COHORT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define COHORT_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define COHORT_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define COHORT_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define COHORT_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define COHORT_THREAD_SANITIZER 0
#endif
