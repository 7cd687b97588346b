#include "base/numbers.h"

#include "support/catch.h"

namespace msdump {

TEST_CASE("versions are read from the front of a text") {
  CHECK(parse_version("2.5.0") == Version{2, 5, 0});
  CHECK(parse_version("2.3.0rc2") == Version{2, 3, 0});
  CHECK(parse_version("2.5") == Version{2, 5, 0});
  CHECK(parse_version("2") == Version{2, 0, 0});
  CHECK(parse_version("2.") == Version{2, 0, 0});
  CHECK(parse_version("1.2.3.4") == Version{1, 2, 3});
  CHECK(parse_version("10000.9.1") == Version{10000, 9, 1});
  CHECK_FALSE(parse_version("10001"));
  CHECK(parse_version("2.10001.1") == Version{2, 0, 0});
  CHECK(parse_version("2.10.0") > parse_version("2.9.9"));
  CHECK_FALSE(parse_version(""));
  CHECK_FALSE(parse_version("v2"));
  CHECK_FALSE(parse_version("99999999999999999999.1"));
}

TEST_CASE("a version is written with its three parts") { CHECK(to_string(Version{2, 10}) == "2.10.0"); }

}  // namespace msdump
