# Run at build time (cmake -P), so that the hash is that of the sources built, not of the last configure. No git, no
# repository or a repository that only surrounds an unpacked tarball: "unknown", never an error.
set(MSDUMP_GIT_HASH unknown)
find_program(git_command git)
if(git_command)
  execute_process(COMMAND ${git_command} -C "${MSDUMP_SOURCE_DIR}" rev-parse --show-prefix --short=12 HEAD
                  OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET)
  # The first line is the folder inside the repository: empty when this is its root.
  if(NOT failed AND answer MATCHES "^\n([0-9a-f]+)\n$")
    set(MSDUMP_GIT_HASH "${CMAKE_MATCH_1}")
    execute_process(COMMAND ${git_command} -C "${MSDUMP_SOURCE_DIR}" diff --quiet HEAD
                    RESULT_VARIABLE changed OUTPUT_QUIET ERROR_QUIET)
    if(changed)
      string(APPEND MSDUMP_GIT_HASH "-dirty")
    endif()
  endif()
endif()
configure_file("${MSDUMP_TEMPLATE}" "${MSDUMP_HEADER}" @ONLY)
