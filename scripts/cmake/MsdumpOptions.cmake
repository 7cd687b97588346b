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
  # g++ 12 at -O2 sees uninitialized reads in every std::optional that it cannot follow: a warning, not an error.
  target_compile_options(msdump_options INTERFACE -Werror $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
endif()

# Sanitizers are for every target, generated code too: a directory property, as this file is included at the top.
if(MSDUMP_SANITIZE)
  add_compile_options(-fsanitize=${MSDUMP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${MSDUMP_SANITIZE})
endif()
# GNU ld takes eight times as long for some sixty executables.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld MSDUMP_HAS_LLD)
if(MSDUMP_HAS_LLD)
  add_link_options(-fuse-ld=lld)
endif()

if(MSDUMP_BUILD_FUZZERS AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "MSDUMP_BUILD_FUZZERS needs clang: cmake --preset asan")
endif()

# msdump_spare_optimizer(TARGET): compiled without optimization, in half of the time. For what runs seldom: the tests
# always, and under sanitizers the program too; the library, where tests spend their time, has the preset's.
function(msdump_spare_optimizer target)
  if(MSDUMP_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# msdump_unite(TARGET [SOURCE...]): with MSDUMP_UNITY the sources of a folder are compiled as one. More than half of the
# time that a file takes is in the headers and the templates that it shares with its neighbours. So the names in the
# unnamed namespaces of a folder have to differ; the SOURCEs named here are compiled alone, and so is what Highway
# compiles once for each CPU, and what lies below MSDUMP_APART, a path in the project.
function(msdump_unite target)
  if(NOT MSDUMP_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    file(STRINGS "${path}" per_cpu REGEX "hwy/foreach_target" LIMIT_COUNT 1)
    set(apart FALSE)
    if(MSDUMP_APART)
      set(path_apart "${PROJECT_SOURCE_DIR}/${MSDUMP_APART}")
      cmake_path(IS_PREFIX path_apart "${path}" NORMALIZE apart)
    endif()
    if(per_cpu OR apart OR name IN_LIST ARGN)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      cmake_path(GET name PARENT_PATH folder)
      string(MAKE_C_IDENTIFIER "in_${folder}" group)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endif()
  endforeach()
  # A local variable may have the name of a neighbour's function.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma GCC diagnostic ignored \"-Wshadow\"")
endfunction()
