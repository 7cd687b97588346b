# Writes the manual pages of MSDUMP_PROGRAM into MSDUMP_FOLDER: msdump.1, and one for each command that it refers to.
function(write_page name)
  execute_process(COMMAND ${MSDUMP_PROGRAM} help ${ARGN} --man OUTPUT_VARIABLE page RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "msdump help ${ARGN} --man: ${status}")
  endif()
  # A text with semicolons or brackets is no list.
  file(WRITE "${MSDUMP_FOLDER}/${name}.1" "${page}")
  set(page "${page}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${MSDUMP_FOLDER}")
write_page(msdump)
string(REPLACE "\\-" "-" page "${page}")
string(REGEX MATCHALL "BR msdump-[a-z-]+ " pages "${page}")
foreach(one IN LISTS pages)
  string(REGEX REPLACE ".*msdump-([a-z-]+) .*" "\\1" command "${one}")
  write_page("msdump-${command}" "${command}")
endforeach()
