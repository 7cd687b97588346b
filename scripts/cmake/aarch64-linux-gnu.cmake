# Debian's cross compiler and its :arm64 packages, side by side with the host's (scripts/setup --packages). Programs of the
# target run through qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
# Without it, pkg-config answers for the host.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
set(Protobuf_PROTOC_EXECUTABLE /usr/bin/protoc)
find_program(MSDUMP_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(MSDUMP_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${MSDUMP_QEMU}")
endif()
