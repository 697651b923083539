# Installs BUILD, and moves the installed tree to PREFIX. No file in it may contain the folder of the
# first installation.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}.first)
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${PREFIX}.first
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PREFIX}.first ${PREFIX})
