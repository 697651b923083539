# cohort_precompiled(<name> <library> <header>...): compiles headers of a library, and of the standard library, once. Targets
# reuse them with target_precompile_headers(<target> REUSE_FROM <name>). Invariant: all these targets use the same options, with
# -O1 in releases: GCC crashes if a target is optimised more than the precompiled headers.
function(cohort_precompiled name library)
  set(nothing ${PROJECT_BINARY_DIR}/generated/nothing.cpp)
  if(NOT EXISTS ${nothing})
    file(WRITE ${nothing} "")
  endif()
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${nothing})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(${name} PRIVATE cohort_options ${library})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_precompile_headers(${name} PRIVATE ${ARGN} <algorithm> <array> <atomic> <chrono> <condition_variable> <deque>
    <filesystem> <functional> <iostream> <map> <memory> <mutex> <optional> <random> <set> <span> <sstream> <string> <thread>
    <vector>)
endfunction()
