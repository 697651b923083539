# cmake -D COMPILER=... -D SOURCE=... -D INCLUDES=a;b -P check.cmake
# The library's headers are system headers for a .cu, as for who finds the package: they must not need a warning.
# The first line of SOURCE says what is expected: "// Must compile..." or "// Must not compile: <part of the message>".
file(STRINGS ${SOURCE} wish LIMIT_COUNT 1)

set(includes "")
foreach(folder IN LISTS INCLUDES)
  if(SOURCE MATCHES "[.]cu$")
    list(APPEND includes -isystem ${folder})
  else()
    list(APPEND includes -I${folder})
  endif()
endforeach()
if(SOURCE MATCHES "[.]cu$")
  set(command ${COMPILER} -std=c++20 -arch=sm_90 -ptx -o /dev/null)
else()
  set(command ${COMPILER} -std=c++20 -fsyntax-only)
endif()
execute_process(COMMAND ${command} ${includes} ${SOURCE}
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(wish MATCHES "^// Must not compile: (.*)$")
  set(message "${CMAKE_MATCH_1}")
  if(NOT failed)
    message(FATAL_ERROR "It compiles, but it should be refused with: ${message}")
  endif()
  string(FIND "${output}" "cohort: ${message}" place)
  string(FIND "${output}" "cohort::cuda::detail::${message}" name_in_place)  # nvcc's own error, about a function of ours
  if(place EQUAL -1 AND name_in_place EQUAL -1)
    message(FATAL_ERROR "It is refused, but not with: ${message}\n${output}")
  endif()
elseif(wish MATCHES "^// Must compile")
  if(failed)
    message(FATAL_ERROR "It does not compile:\n${output}")
  endif()
else()
  message(FATAL_ERROR "${SOURCE}: the first line does not say what is expected")
endif()
