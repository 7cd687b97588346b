#include "help/help.h"
#include "support/catch.h"

namespace msdump::cli {

TEST_CASE("words fill a line to its last column and no further") {
  CHECK(wrapped("aa bb cc", 2, 7) == "aa bb\n  cc\n");
  CHECK(wrapped("aa bb cc", 2, 6) == "aa\n  bb\n  cc\n");
  CHECK(wrapped("aa bb cc", 0, 8) == "aa bb cc\n");
  CHECK(wrapped("a-very-long-word x", 2, 6) == "a-very-long-word\n  x\n");
  CHECK(wrapped("\xE4\xB8\xAD\xE6\x96\x87 b", 0, 6) == "\xE4\xB8\xAD\xE6\x96\x87 b\n");  // two columns a letter
  CHECK(wrapped("\xE4\xB8\xAD\xE6\x96\x87 b", 0, 5) == "\xE4\xB8\xAD\xE6\x96\x87\nb\n");
  CHECK(wrapped("", 4, 9) == "\n");
}

}  // namespace msdump::cli
