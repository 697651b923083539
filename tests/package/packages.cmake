# Makes the packages of BUILD in FOLDER, and unpacks them there. Each must contain exactly the files of INSTALLED. The unpacked
# Debian package stays in FOLDER/root. It must depend on packages that are installed here, because its programs were linked with
# them, and on no others.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/root ${FOLDER}/tarball)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER}/tarball OUTPUT_VARIABLE said
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(said ${said} PARENT_SCOPE)
endfunction()

function(same_files folder)
  foreach(each INSTALLED folder)
    file(GLOB_RECURSE files_${each} RELATIVE ${${each}} ${${each}}/*)
  endforeach()
  if(NOT files_INSTALLED STREQUAL files_folder)
    message(FATAL_ERROR "${folder} has\n  ${files_folder}\nbut what is installed is\n  ${files_INSTALLED}")
  endif()
endfunction()

run(${CPACK} --config ${BUILD}/CPackConfig.cmake -C ${CONFIG} -B ${FOLDER})

file(GLOB tarball ${FOLDER}/*.tar.gz)
run(${CMAKE_COMMAND} -E tar xzf ${tarball})
cmake_path(GET tarball STEM LAST_ONLY name)
cmake_path(GET name STEM LAST_ONLY name)
same_files(${FOLDER}/tarball/${name})

file(GLOB deb ${FOLDER}/*.deb)
if(deb)
  run(dpkg-deb --extract ${deb} ${FOLDER}/root)
  same_files(${FOLDER}/root/usr)
  run(dpkg-deb --field ${deb} Depends)
  foreach(needed IN ITEMS libboost-context-dev zlib1g-dev libc6)
    if(NOT said MATCHES "${needed}")
      message(FATAL_ERROR "the package does not depend on ${needed}, but on ${said}")
    endif()
  endforeach()
  if(said MATCHES "cuda|nvidia")
    message(FATAL_ERROR "the package depends on CUDA: ${said}")
  endif()
  string(REPLACE ", " ";" dependencies "${said}")
  list(FILTER dependencies EXCLUDE REGEX "[|]")
  list(TRANSFORM dependencies REPLACE " .*" "")
  run(dpkg-query --show ${dependencies})
endif()
