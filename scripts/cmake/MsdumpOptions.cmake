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
endif()
if(MSDUMP_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "MSDUMP_BUILD_FUZZERS needs clang: cmake --preset asan")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)  # libFuzzer's own main comes with tests/fuzz only
endif()
