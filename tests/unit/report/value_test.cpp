// What a row gives back.
#include <limits>

#include "report/value.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

Row row() {
  Object source;
  source.add("file", "net.py").add("line", 12U);
  Row row;
  row.add("io", "output").add("slot", 0).add("source", source).add("shape", List{1}).add("l2norm", 2.0);
  row.add("rank", nullptr).add("bytes", std::numeric_limits<uint64_t>::max()).add("empty", "");
  return row;
}

TEST_CASE("a row gives its texts by dotted keys, and nothing where there is none") {
  CHECK(row().text("io") == "output");
  CHECK(row().text("source.file") == "net.py");
  for (const char* const key : {"slot", "rank", "source", "shape", "none", "source.none", "io.none", "empty"})
    CHECK(row().text(key).empty());
}

TEST_CASE("a row gives its whole numbers, and nothing for what does not fit") {
  CHECK(row().number("slot") == 0);
  CHECK(row().number("source.line") == 12);
  for (const char* const key : {"io", "rank", "l2norm", "bytes", "source", "none"}) CHECK(!row().number(key));
  Row most;
  most.add("n", uint64_t{std::numeric_limits<int64_t>::max()});
  CHECK(most.number("n") == std::numeric_limits<int64_t>::max());
}

TEST_CASE("a cell of a table is the text, the number or a dash") {
  CHECK(row().text_or_number("io") == "output");
  CHECK(row().text_or_number("source.line") == "12");
  CHECK(row().text_or_number("empty").empty());
  for (const char* const key : {"rank", "l2norm", "shape", "none"}) CHECK(row().text_or_number(key) == "-");
}

}  // namespace
}  // namespace msdump::report
