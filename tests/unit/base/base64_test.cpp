#include "base/text.h"

#include <string>

#include "support/catch.h"

namespace msdump {
namespace {

// The vectors of RFC 4648, section 10.
TEST_CASE("text becomes the base64 of the RFC's vectors") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64("fooba") == "Zm9vYmE=");
  CHECK(base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("bytes above 127 are not signed in base64") {
  CHECK(base64("\xFB\xFF\xFE") == "+//+");
  CHECK(base64(std::string(3, '\0')) == "AAAA");
}

}  // namespace
}  // namespace msdump
