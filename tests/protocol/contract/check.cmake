# cmake -D COMPILER=... -D SOURCE=... -D INCLUDES=a;b -P check.cmake
# The first line of SOURCE says what is expected: "// Must compile..." or "// Must not compile: <part of the message>".
file(STRINGS ${SOURCE} wish LIMIT_COUNT 1)

set(includes "")
foreach(folder IN LISTS INCLUDES)
  list(APPEND includes -I${folder})
endforeach()
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${includes} ${SOURCE}
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(wish MATCHES "^// Must not compile: (.*)$")
  set(message "${CMAKE_MATCH_1}")
  if(NOT failed)
    message(FATAL_ERROR "It compiles, but it should be refused with: ${message}")
  endif()
  string(FIND "${output}" "cohort: ${message}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "It is refused, but not with: ${message}\n${output}")
  endif()
elseif(wish MATCHES "^// Must compile")
  if(failed)
    message(FATAL_ERROR "It does not compile:\n${output}")
  endif()
else()
  message(FATAL_ERROR "${SOURCE}: the first line does not say what is expected")
endif()
