#include "base/version.h"

#include "support/catch.h"

namespace msdump {

TEST_CASE("versions are read from the front of a text") {
  CHECK(parse_version("2.5.0") == Version{2, 5, 0});
  CHECK(parse_version("2.3.0rc2") == Version{2, 3, 0});
  CHECK(parse_version("2.5") == Version{2, 5, 0});
  CHECK(parse_version("2") == Version{2, 0, 0});
  CHECK(parse_version("2.10.0") > parse_version("2.9.9"));
  CHECK_FALSE(parse_version(""));
  CHECK_FALSE(parse_version("v2"));
  CHECK_FALSE(parse_version("99999999999999999999.1"));
}

}  // namespace msdump
