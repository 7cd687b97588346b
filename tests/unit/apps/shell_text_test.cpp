#include "frame/terminal.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace msdump::cli {
namespace {

TEST_CASE("a word is quoted where a shell would take it apart") {
  CHECK(shell_quoted("a/b-c_1.2") == "a/b-c_1.2");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(shell_quoted("$(x)") == "'$(x)'");
  CHECK(shell_quoted("a\\b") == "'a\\b'");
  CHECK(shell_quoted("a\x1b'\\b") == "$'a\\x1b\\'\\\\b'");
  CHECK(shell_quoted("") == "''");
}

TEST_CASE("a command line can be typed again") {
  CHECK(shell_line(std::vector<std::string>{"msdump", "diff", "a b", "--op", "*"}) == "msdump diff 'a b' --op '*'");
}

}  // namespace
}  // namespace msdump::cli
