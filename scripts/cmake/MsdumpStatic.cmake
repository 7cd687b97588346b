# MSDUMP_STATIC: every library is linked into the program. Debian has archives of protobuf, RE2, libyaml and zlib. fmt and
# spdlog are used as headers. Highway's few lines outside of headers are compiled from Debian's source package, which
# `scripts/setup --packages` unpacks.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Protobuf_USE_STATIC_LIBS ON)
set(OPENSSL_USE_STATIC_LIBS ON)  # of the tests
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-static -Wl,--gc-sections)

# The same bytes in whatever folder it is built.
add_compile_options("-ffile-prefix-map=${PROJECT_BINARY_DIR}=build" "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")

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
target_compile_definitions(msdump_highway PUBLIC HWY_STATIC_DEFINE)
target_include_directories(msdump_highway SYSTEM PUBLIC "${MSDUMP_HIGHWAY}")
string(REGEX MATCH "[0-9.]+$" hwy_VERSION "${MSDUMP_HIGHWAY}")

# Called when the packages have been found.
macro(msdump_use_headers_only)
  set(MSDUMP_FMT fmt::fmt-header-only)
  set(MSDUMP_SPDLOG spdlog::spdlog_header_only)
  set_target_properties(spdlog::spdlog_header_only PROPERTIES
    INTERFACE_LINK_LIBRARIES "Threads::Threads;fmt::fmt-header-only")
endmacro()
