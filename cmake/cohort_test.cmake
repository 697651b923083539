# cohort_test(<name> SOURCES <file>... LABELS <label>... [LIBRARIES <target>...] [TIMEOUT <s>] [PROCESSORS <n>] [SHARDS <n>]
#             [COST <s>] [SERIAL] [OPTIMISED])
#
# Adds a GoogleTest program and one ctest entry for it, or SHARDS entries that share its tests. They print only failures. Labels:
# unit conformance stress cli compiler opencl cuda (and example, package: the entries of examples/ and tests/package).
# PROCESSORS is the number of processors that the test keeps busy. SERIAL runs it alone, for tests that judge timing. COST is the
# time of an entry in seconds, for the longest ones: ctest begins with them. OPTIMISED compiles it like the library, for tests that
# need the speed. The tests read COHORT_TEST_SCALE (1 unless set; the sanitizer presets lower it) to size their loops.
find_package(GTest REQUIRED)

add_custom_target(cohort_tests)  # all test programs, but nothing else
add_custom_target(cohort_compiler_tests)  # the tests of cohortc
add_custom_target(cohort_thread_tests)  # tests with several threads, for the thread sanitizer

cohort_precompiled(cohort_test_headers "GTest::gmock;cohort::explore" <gmock/gmock.h> <cohort/cpu.hpp> <cohort/explore.hpp>)

# Some kernels randomise addresses too widely for the thread sanitizer's shadow memory. Switch randomisation off if permitted.
set(COHORT_TEST_LAUNCHER "")
if(COHORT_SANITIZE MATCHES thread)
  find_program(SETARCH setarch)
  mark_as_advanced(SETARCH)
  if(SETARCH)
    execute_process(COMMAND ${SETARCH} --addr-no-randomize true
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(COHORT_TEST_LAUNCHER ${SETARCH} --addr-no-randomize)
    endif()
  endif()
endif()

function(cohort_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL;OPTIMISED" "TIMEOUT;PROCESSORS;SHARDS;COST" "SOURCES;LABELS;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES OR NOT arg_LABELS)
    message(FATAL_ERROR "cohort_test(${name}): needs SOURCES and LABELS; not understood: '${arg_UNPARSED_ARGUMENTS}'")
  endif()

  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE
    cohort::cohort ${arg_LIBRARIES} cohort_options GTest::gmock_main)
  add_dependencies(cohort_tests ${name})
  if("compiler" IN_LIST arg_LABELS)
    add_dependencies(cohort_compiler_tests ${name})
  endif()
  if("conformance" IN_LIST arg_LABELS)
    add_dependencies(cohort_thread_tests ${name})
  endif()
  if(NOT arg_OPTIMISED)
    # -O1 compiles in half the time.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    target_precompile_headers(${name} REUSE_FROM cohort_test_headers)
  endif()

  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(entry ${name})
    if(arg_SHARDS GREATER 1)
      set(entry ${name}_${shard})
    endif()
    add_test(NAME ${entry} COMMAND ${COHORT_TEST_LAUNCHER} $<TARGET_FILE:${name}> --gtest_brief=1)
    math(EXPR index "${shard} - 1")
    set_tests_properties(${entry} PROPERTIES LABELS "${arg_LABELS}" RUN_SERIAL ${arg_SERIAL}
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
    foreach(property TIMEOUT PROCESSORS COST)
      if(arg_${property})
        set_tests_properties(${entry} PROPERTIES ${property} ${arg_${property}})
      endif()
    endforeach()
  endforeach()
endfunction()
