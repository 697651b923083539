# cmake -D COMPILER=... -D SOURCE=... -D CASE=... -D MESSAGE=... -D INCLUDES=a;b -D PRECOMPILED=header -P check.cmake
# Compiles one case of SOURCE, which must be refused with MESSAGE, or must compile if that is empty. For a .cu the library's
# headers are system headers, as for users of the package: warnings in them are hidden, so the refusal must be an error.
set(flag -I)
set(command ${COMPILER} -std=c++20 -fsyntax-only -include ${PRECOMPILED})
if(SOURCE MATCHES "[.]cu$")
  set(flag "-isystem;")
  set(command ${COMPILER} -std=c++20 -arch=sm_90 -ptx -o /dev/null)
endif()
list(TRANSFORM INCLUDES PREPEND "${flag}")
execute_process(COMMAND ${command} -DCASE_${CASE} ${INCLUDES} ${SOURCE}
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(NOT MESSAGE)
  if(failed)
    message(FATAL_ERROR "It does not compile:\n${output}")
  endif()
  return()
endif()
if(NOT failed)
  message(FATAL_ERROR "It compiles, but it should be refused with: ${MESSAGE}")
endif()
string(FIND "${output}" "cohort: ${MESSAGE}" place)
# Nvcc's own error, which contains the name of a function of ours.
string(FIND "${output}" "cohort::cuda::detail::${MESSAGE}" name_in_place)
if(place EQUAL -1 AND name_in_place EQUAL -1)
  message(FATAL_ERROR "It is refused, but not with: ${MESSAGE}\n${output}")
endif()
