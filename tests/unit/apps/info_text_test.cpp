#include "info/info_text.h"

#include "support/catch.h"

namespace msdump::cli {
namespace {

TEST_CASE("lines are aligned, empty ones left out, names escaped") {
  InfoText text("a\x1b[31m", "npy");
  text.line("dtype", "float32");
  text.line("nothing", "");
  text.line("size in all", "3\n4");
  text.more("more of it");
  text.next("the elements", "msdump info x --values");
  CHECK(text.text() ==
        "a\\x1b[31m: npy\n"
        "  dtype        float32\n"
        "  size in all  3\\n4\n"
        "                 more of it\n"
        "\n"
        "  the elements  msdump info x --values\n");
}

TEST_CASE("values of any kind become one line, objects in objects several") {
  InfoText text("f", "x");
  text.value("list", report::list_of(std::vector<int>{1, 2}));
  text.value("flat", report::Object().add("a", 1).add("b", nullptr).add("c", "w"));
  text.value("deep", report::Object().add("x", 1).add("inner", report::Object().add("y", true)));
  text.value("null", {});
  CHECK(text.text() == "f: x\n  list   1, 2\n  flat   a 1, c w\n  x      1\n  inner  y yes\n");
}

TEST_CASE("long lists and texts are cut") {
  InfoText text("f", "x");
  text.value("many", report::list_of(std::vector<int>(30, 7)));
  text.value("long", std::string(500, 'a'));
  CHECK(text.text() == "f: x\n  many  7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, ... (30 in all)\n  long  " +
                           std::string(200, 'a') + "...\n");
}

TEST_CASE("numbers are printed as ranges") {
  CHECK(ranges_text({}) == "");
  CHECK(ranges_text({5}) == "5");
  CHECK(ranges_text({0, 1, 2, 5, 7, 8}) == "0-2, 5, 7-8");
  CHECK(ranges_text({0, 2, 4, 6, 8, 10, 12, 14, 16, 18}) == "0, 2, 4, 6, 8, 10, 12, 14, ... 18");
  CHECK(counted_ranges_text({3}) == "3");
  CHECK(counted_ranges_text({0, 1, 5}) == "3: 0-1, 5");
}

TEST_CASE("counts come with the largest first") {
  CHECK(counts_text({{"a", 1}, {"b", 3}, {"c", 1}}, 2) == "b 3, a 1, and 1 more");
  CHECK(counts_text({}, 2).empty());
}

TEST_CASE("bytes are printed for people and exactly") {
  CHECK(bytes_text(1) == "1 byte");
  CHECK(bytes_text(1023) == "1023 bytes");
  CHECK(bytes_text(1536) == "1.5 KiB (1536 bytes)");
}

}  // namespace
}  // namespace msdump::cli
