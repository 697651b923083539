# Compiles SOURCE with COMPILER and only the options from pkg-config. Links it normally and with --static, and runs
# both.
cmake_minimum_required(VERSION 3.25)
set(ENV{PKG_CONFIG_PATH} ${LIBRARIES}/pkgconfig)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

function(ask result)
  execute_process(COMMAND ${PKG_CONFIG} ${ARGN} cohort
    OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(said UNIX_COMMAND "${said}")
  set(${result} ${said} PARENT_SCOPE)
endfunction()

function(must)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER}
    COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

ask(version --modversion)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "cohort.pc is of version ${version}, not ${VERSION}")
endif()

ask(cflags --cflags)
must(${COMPILER} -std=c++20 -Wall -Wextra -Werror ${cflags} -c ${SOURCE} -o consumer.o)
foreach(static IN ITEMS "" --static)
  ask(libs --libs ${static})
  must(${COMPILER} consumer.o ${libs} -o consumer${static})
  must(${FOLDER}/consumer${static})
endforeach()
