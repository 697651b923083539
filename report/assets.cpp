#include "report/assets.hpp"

// The symbols are hidden, so that no shared library exports them. The assembler includes the files,
// and CMake makes this source depend on them.
#define COHORT_ASSET(name, file)                                                                  \
  asm(".section .rodata\n.balign 16\n.global cohort_asset_" #name "\n.hidden cohort_asset_" #name \
      "\ncohort_asset_" #name ":\n.incbin \"" file "\"\n.global cohort_asset_" #name              \
      "_end\n.hidden cohort_asset_" #name "_end\ncohort_asset_" #name                             \
      "_end:\n.byte 0\n.previous\n");                                                             \
  extern "C" const char cohort_asset_##name[];                                                    \
  extern "C" const char cohort_asset_##name##_end[]

COHORT_ASSET(page, COHORT_REPORT_FOLDER "/page.html");
COHORT_ASSET(style, COHORT_REPORT_FOLDER "/report.css");
COHORT_ASSET(script, COHORT_REPORT_FOLDER "/report.js");
#ifdef COHORT_D3
COHORT_ASSET(d3, COHORT_D3);
#endif

namespace cohort::report {

std::string_view page() { return {cohort_asset_page, cohort_asset_page_end}; }
std::string_view style() { return {cohort_asset_style, cohort_asset_style_end}; }
std::string_view script() { return {cohort_asset_script, cohort_asset_script_end}; }
#ifdef COHORT_D3
std::string_view d3() { return {cohort_asset_d3, cohort_asset_d3_end}; }
#else
std::string_view d3() { return {}; }
#endif

}  // namespace cohort::report
