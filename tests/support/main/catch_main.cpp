// main() of the tests where there is no archive of Catch2 for the CPU: Debian's holds the host's.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
