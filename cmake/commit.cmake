# cohort_commit: a header "commit.hpp" with `cohort::build_commit`, the commit the program is built from ("-dirty" with
# local changes, "unknown" outside a git checkout). Refreshed at each build, rewritten only when it changes.
if(CMAKE_SCRIPT_MODE_FILE)
  set(commit unknown)
  find_program(GIT git)
  if(GIT)
    execute_process(COMMAND ${GIT} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE_DIR}
      OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    file(REAL_PATH "${SOURCE_DIR}" source)
    if(root STREQUAL source)  # the tree may have been unpacked inside another repository
      execute_process(
        COMMAND ${GIT} --no-optional-locks describe --always --dirty --abbrev=12 --exclude=*
        WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_QUIET RESULT_VARIABLE failed)
      if(NOT failed)
        set(commit ${described})
      endif()
    endif()
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Generated at build time: the commit this program is built from.
#pragma once

namespace cohort {
inline constexpr char build_commit[] = "@commit@";
}  // namespace cohort
]])
  return()
endif()

set(commit_header ${PROJECT_BINARY_DIR}/generated/commit/commit.hpp)
add_custom_target(cohort_commit_header
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D OUTPUT=${commit_header}
          -P ${CMAKE_CURRENT_LIST_FILE}
  BYPRODUCTS ${commit_header}
  COMMENT "Looking up the commit"
  VERBATIM)

add_library(cohort_commit INTERFACE)
add_dependencies(cohort_commit cohort_commit_header)
target_include_directories(cohort_commit INTERFACE ${PROJECT_BINARY_DIR}/generated/commit)
