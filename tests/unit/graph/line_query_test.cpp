#include "graph/lines/line_search.h"

#include "support/catch.h"

namespace msdump {
namespace {

struct Spelling {
  const char* text;
  const char* file;
  uint32_t first, last;
};

TEST_CASE("a place is read as people copy it") {
  const Spelling spellings[] = {
      {"alexnet.py:175", "alexnet.py", 175, 175},
      {"alexnet.py:175-180", "alexnet.py", 175, 180},
      {"alexnet.py(175)", "alexnet.py", 175, 175},
      {"alexnet.py:175, 12~25", "alexnet.py", 175, 175},
      {"./src/alexnet.py:15~20, 4~16", "src/alexnet.py", 15, 20},
      {"# In file /home/user/alexnet.py:175, 12~25/        x = self.conv3(x)/", "/home/user/alexnet.py", 175, 175},
      {"      # inlined:In file /u/a.py:11/  y(3)/", "/u/a.py", 11, 11},
      {"In file /u/a.py(41)/  f(x)/", "/u/a.py", 41, 41},
      {"File \"/u/a b.py\", line 7, in construct", "/u/a b.py", 7, 7},
      {"C:\\train\\net.py:12", "C:\\train\\net.py", 12, 12},
      {"alexnet.py", "alexnet.py", 0, 0},
  };
  for (const Spelling& spelling : spellings) {
    INFO(spelling.text);
    const auto query = parse_line_query(spelling.text);
    REQUIRE(query);
    CHECK(query->file == spelling.file);
    CHECK(query->first == spelling.first);
    CHECK(query->last == spelling.last);
  }
}

TEST_CASE("what is not a place in a script is refused") {
  for (const char* text : {"", "175", ":175", "alexnet", "alexnet.py:", "alexnet.py:0", "alexnet.py:180-175",
                           "alexnet.py:1x", "some words.py", "a.py:99999999999"}) {
    INFO(text);
    const auto query = parse_line_query(text);
    REQUIRE(!query);
    CHECK(query.error().code == ErrorCode::kUsage);
    CHECK(!query.error().hint.empty());
  }
}

TEST_CASE("a path fits from its end, by whole components") {
  CHECK(path_ends_with("/home/user/src/net.py", "net.py"));
  CHECK(path_ends_with("/home/user/src/net.py", "src/net.py"));
  CHECK(path_ends_with("net.py", "net.py"));
  CHECK(!path_ends_with("/home/user/mynet.py", "net.py"));
  CHECK(!path_ends_with("/home/user/net.py", "other/net.py"));
  CHECK(!path_ends_with("net.py", "src/net.py"));
  CHECK(!path_ends_with("net.py", ""));
}

TEST_CASE("a script that was started by a relative path fits the path that it has") {
  CHECK(path_ends_with("/home/user/run/../src/net.py", "/home/user/src/net.py"));
  CHECK(path_ends_with("/home/user/a/b/../../src/./net.py", "user/src/net.py"));
  CHECK(path_ends_with("/home/user/src/net.py", "../src/net.py"));
  CHECK(path_ends_with("../src/net.py", "src/net.py"));
  CHECK(path_ends_with("/../net.py", "/net.py"));
  CHECK(!path_ends_with("/home/user/run/../src/net.py", "run/net.py"));
  CHECK(!path_ends_with("/home/user/net.py", "../"));
}

}  // namespace
}  // namespace msdump
