#include <cmath>

#include "report/row_sink.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

std::string csv(const std::vector<Row>& rows, std::vector<Column> columns = {}, bool for_terminal = false) {
  StringOutput out;
  SinkOptions options;
  options.for_terminal = for_terminal;
  const std::unique_ptr<RowSink> sink = make_sink(Form::kCsv, out, {"ls", "1", {}, std::move(columns)}, options);
  for (const Row& row : rows) REQUIRE(sink->row(row));
  REQUIRE(sink->finish({}));
  return out.text();
}

TEST_CASE("csv: objects are dotted columns, lists one cell of compact JSON") {
  Object source;
  source.add("file", "net.py").add("line", 12);
  Row row;
  row.add("shape", list_of(std::vector<int64_t>{2, 3})).add("source", source);
  CHECK(csv({row}) == "shape,source.file,source.line\n\"[2,3]\",net.py,12\n");
}

TEST_CASE("csv: declared columns are printed without rows, and decide the order") {
  const std::vector<Column> columns = {{"b", "b"}, {"source.line", "line"}, {"missing", ""}};
  CHECK(csv({}, columns) == "b,source.line,missing\n");
  Object source;
  source.add("line", 3);
  Row row, without;
  row.add("source", source).add("b", 1);
  without.add("source", nullptr).add("b", 2);
  CHECK(csv({row, without}, columns) == "b,source.line,missing\n1,3,\n2,,\n");
}

TEST_CASE("csv: an object without declared parts is one cell of JSON") {
  Object detail;
  detail.add("k", "v");
  Row row;
  row.add("detail", detail);
  CHECK(csv({row}, {{"detail", "detail"}}) == "detail\n\"{\"\"k\"\":\"\"v\"\"}\"\n");
}

TEST_CASE("csv: an object without parts is a column of its own") {
  Row row;
  row.add("source", Object()).add("b", 1);
  CHECK(csv({row}) == "source,b\n{},1\n");
}

TEST_CASE("csv: quoting, and null apart from empty text") {
  Row row;
  row.add("a", "x,y").add("b", "say \"hi\"").add("c", "two\nlines").add("d", nullptr).add("e", "").add("f", " x");
  CHECK(csv({row}) == "a,b,c,d,e,f\n\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\",,\"\",\" x\"\n");
}

TEST_CASE("csv: numbers as in JSON, non-finite ones bare") {
  Row row;
  row.add("a", 0.1F).add("b", std::nan("")).add("c", -HUGE_VAL).add("d", true).add("e", uint64_t{1} << 63);
  CHECK(csv({row}) == "a,b,c,d,e\n0.1,nan,-inf,true,9223372036854775808\n");
}

TEST_CASE("csv: a NUL, at which readers stop, is written as in JSON, wherever it is in a cell") {
  for (size_t at = 0; at < 20; ++at) {
    std::string name(20, 'x');
    name[at] = '\0';
    const std::string text = csv({Row().add("name", name)});
    CHECK(text.find('\0') == std::string::npos);
    CHECK(text.find(name.substr(0, at) + "\\u0000" + name.substr(at + 1)) != std::string::npos);
  }
}

TEST_CASE("csv: bytes that are not UTF-8 are surrogate escapes, control characters are escaped on a terminal only") {
  Row row;
  row.add("a", "x\xff\x1b[2J");
  CHECK(csv({row}) == "a\nx\\udcff\x1b[2J\n");
  CHECK(csv({row}, {}, true) == "a\nx\\xff\\x1b[2J\n");
}

}  // namespace
}  // namespace msdump::report
