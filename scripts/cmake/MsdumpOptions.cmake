# The options every msdump target is compiled with.
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(MSDUMP_CCACHE ccache)
  mark_as_advanced(MSDUMP_CCACHE)
  if(MSDUMP_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${MSDUMP_CCACHE}")
  endif()
endif()

# One interface target for the code written here; generated code does without the warnings.
# -ffp-contract=off: a fused multiply-add on one CPU and not on another would print another last digit.
add_library(msdump_options INTERFACE)
target_compile_features(msdump_options INTERFACE cxx_std_20)
target_compile_options(msdump_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -ffp-contract=off)
if(MSDUMP_WERROR)
  # g++ 12 at -O2 sees uninitialized reads in every std::optional that it cannot follow: told, not fatal.
  target_compile_options(msdump_options INTERFACE -Werror $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
endif()

# Sanitizers are for every target, generated code too: a directory property, as this file is included at the top.
if(MSDUMP_SANITIZE)
  add_compile_options(-fsanitize=${MSDUMP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${MSDUMP_SANITIZE})
  # Their executables are large, and GNU ld takes eight times as long for them. g++ keeps its
  # own linker.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=lld MSDUMP_HAS_LLD)
    if(MSDUMP_HAS_LLD)
      add_link_options(-fuse-ld=lld)
    endif()
  endif()
endif()
if(MSDUMP_BUILD_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "MSDUMP_BUILD_FUZZERS needs clang: cmake --preset asan")
endif()

# msdump_spare_optimizer(TARGET): under sanitizers its code is compiled without optimization, in a third of the time. For what
# runs seldom, the program and the tests; the library, where tests spend theirs, has the preset's -O1.
function(msdump_spare_optimizer target)
  if(MSDUMP_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# msdump_unite(TARGET): with MSDUMP_UNITY the target's sources are compiled several as one, those of a folder together.
# Most of the time that a file takes is in the headers and the templates that it shares with its neighbours. Each file alone
# is what preset release compiles. Which ones go together is decided anew by each run of cmake.
function(msdump_unite target)
  if(NOT MSDUMP_UNITY)
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/scripts/cmake/unity_groups.awk")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
  file(GLOB_RECURSE headers "${PROJECT_SOURCE_DIR}/lib/*.h" "${PROJECT_SOURCE_DIR}/apps/*.h" "${PROJECT_SOURCE_DIR}/tests/*.h")
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  execute_process(COMMAND awk -f "${script}" ${headers} ${sources}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  foreach(line IN LISTS groups)
    string(REGEX MATCH "^([^ ]+) (.+)$" line "${line}")
    set_source_files_properties("${CMAKE_MATCH_2}" PROPERTIES UNITY_GROUP "${CMAKE_MATCH_1}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE -Wno-shadow)  # a local variable may have the name of a neighbour's function
endfunction()
