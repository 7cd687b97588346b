# MSDUMP_STATIC: every library is linked into the program. Debian has archives of protobuf, RE2, libyaml and zlib. spdlog is
# used as headers; fmt.cpp beside this file compiles fmt's. Highway's few lines outside of headers are compiled from Debian's
# source package, which `scripts/setup --packages` unpacks. Sources of lib/ are compiled by the same commands as without
# MSDUMP_STATIC, so ccache serves both builds.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Protobuf_USE_STATIC_LIBS ON)
set(OPENSSL_USE_STATIC_LIBS ON)  # of the tests
add_link_options(-static -Wl,--gc-sections)

file(GLOB folders /usr/local/src/highway-*)
find_path(MSDUMP_HIGHWAY hwy/targets.cc PATHS ${folders} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
  DOC "Sources of Highway")
if(NOT MSDUMP_HIGHWAY)
  message(FATAL_ERROR "Highway's sources are not there: run scripts/setup --packages, or set MSDUMP_HIGHWAY")
endif()
file(GLOB sources "${MSDUMP_HIGHWAY}/hwy/targets.cc" "${MSDUMP_HIGHWAY}/hwy/per_target.cc")
add_library(msdump_highway STATIC ${sources})
add_library(hwy::hwy ALIAS msdump_highway)
target_compile_features(msdump_highway PUBLIC cxx_std_11)
target_compile_definitions(msdump_highway PUBLIC HWY_SHARED_DEFINE)  # as Debian's package has it
target_include_directories(msdump_highway SYSTEM PRIVATE "${MSDUMP_HIGHWAY}")
string(REGEX MATCH "[0-9.]+$" hwy_VERSION "${MSDUMP_HIGHWAY}")

# Called when the packages have been found.
macro(msdump_link_statically)
  add_library(msdump_fmt STATIC "${PROJECT_SOURCE_DIR}/scripts/cmake/fmt.cpp")
  target_compile_features(msdump_fmt PUBLIC cxx_std_11)
  target_compile_definitions(msdump_fmt PUBLIC FMT_SHARED)
  set(MSDUMP_FMT msdump_fmt)
  set(MSDUMP_SPDLOG spdlog::spdlog_header_only)
  set_target_properties(spdlog::spdlog_header_only PROPERTIES INTERFACE_LINK_LIBRARIES "Threads::Threads;msdump_fmt")
endmacro()
