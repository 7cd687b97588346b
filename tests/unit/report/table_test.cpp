#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "report/row_sink.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

using Texts = std::vector<std::string>;

std::string table(const std::vector<Row>& rows, std::vector<Column> columns = {}, size_t max_width = 0) {
  StringOutput out;
  SinkOptions options;
  options.max_width = max_width;
  const std::unique_ptr<RowSink> sink = make_sink(Form::kTable, out, {"ls", "1", {}, std::move(columns)}, options);
  for (const Row& row : rows) REQUIRE(sink->row(row));
  REQUIRE(sink->finish({}));
  return out.text();
}

Row row_of(Value name, Value count) {
  Row row;
  row.add("name", std::move(name)).add("count", std::move(count));
  return row;
}

TEST_CASE("table: text to the left, numbers to the right, no blanks at the end") {
  CHECK(table({row_of("Conv2D", 12), row_of("Add", 3), row_of("x", nullptr)}) ==
        "name    count\n"
        "Conv2D     12\n"
        "Add         3\n"
        "x           -\n");
  CHECK(table({row_of(1, "long text"), row_of(20, "x")}) == "name  count\n   1  long text\n  20  x\n");
}

TEST_CASE("table: a column of numbers and texts is aligned to the left") {
  CHECK(table({row_of("a", 1), row_of("b", "text"), row_of("c", 22)}) ==
        "name  count\na     1\nb     text\nc     22\n");
  CHECK(table({row_of("a", true), row_of("b", nullptr)}) == "name  count\na     true\nb     -\n");
}

TEST_CASE("table: wide characters take two columns") {
  CHECK(table({row_of("算子", 1), row_of("abcdef", 22)}) == "name    count\n算子        1\nabcdef     22\n");
}

TEST_CASE("table: control characters of names never reach the terminal") {
  CHECK(table({row_of("a\x1b[31m\nb", "x")}) == "name          count\na\\x1b[31m\\nb  x\n");
}

TEST_CASE("table: untitled columns are left out, a column may say its own text") {
  const std::vector<Column> columns = {
      {"name", "op"}, {"count", ""}, {"", "both", [](const Row& row) {
                                        return fmt::format("{}!", std::get<std::string>(row.find("name")->storage()));
                                      }}};
  CHECK(table({row_of("Add", 1)}, columns) == "op   both\nAdd  Add!\n");
}

TEST_CASE("table: lines are cut to the terminal, by columns and not by bytes") {
  CHECK(table({row_of("abcdefgh", "ijkl")}, {}, 10) == "name     …\nabcdefgh …\n");
  CHECK(table({row_of("算子算子算子", 1)}, {}, 6) == "name …\n算子…\n");
  CHECK(table({row_of("Conv2D", 12)}, {}, 1) == "…\n…\n");
}

TEST_CASE("table: in a line that is too wide long names lose their middle, so that later columns are seen") {
  const std::string name = "Default/network-WithLossCell/_backbone-Net/fc1-Dense/MatMul-op20";
  CHECK(table({row_of(name, "max 159 > 30"), row_of("算子" + name, "x")}, {}, 60) ==
        "name                                            count\n"
        "Default/network…bone-Net/fc1-Dense/MatMul-op20  max 159 > 30\n"
        "算子Default/net…bone-Net/fc1-Dense/MatMul-op20  x\n");
  CHECK(table({row_of(name, 3)}, {}, 20) == "name               …\nDefaul…e/MatMul-op2…\n");
}

TEST_CASE("table: names that are cut lose the scope they have in common, and remain different") {
  const auto names = [](const std::vector<std::string>& long_names, size_t width) {
    std::vector<Row> rows;
    for (const std::string& name : long_names) rows.push_back(row_of(name, "x"));
    Texts cells;
    std::istringstream lines(table(rows, {}, width));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) cells.push_back(line.substr(0, line.find(' ')));
    return cells;
  };
  CHECK(names({"Default/network-Net/conv1-Conv2d/Conv2D-op12", "Default/network-Net/fc1-Dense/MatMul-op20"}, 36) ==
        Texts{"…/conv1-Conv2d/Conv2D-op12", "…/fc1-Dense/MatMul-op20"});
  CHECK(names({"Default_network-Net_second-Residual_Mul-op0", "Default_network-Net_second-Residual_Mul-op1"}, 34) ==
        Texts{"…_second-Residual_Mul-op0", "…_second-Residual_Mul-op1"});
  // What tells names apart is kept wherever it is.
  CHECK(names({"Module.model.layers.0.attention.core.forward.0", "Module.model.layers.1.attention.core.forward.0",
               "Module.embedding.forward.0"},
              36) ==
        Texts{"….0.attention.core.forward.0", "….1.attention.core.forward.0", "Module.embedding.forward.0"});
  const std::string scope = "a_network-Level_";
  CHECK(names({scope + scope + scope + "Tanh-op0", scope + scope + scope + scope + "Tanh-op0",
               scope + scope + scope + scope + scope + "Tanh-op0"},
              31) == Texts{"…32…twork-Level_Tanh-op0", "…48…twork-Level_Tanh-op0", "…_a_net…k-Level_Tanh-op0"});
}

TEST_CASE("table: too wide for the terminal, columns of nothing but '-' go first, then by their order of dropping") {
  const std::vector<Column> columns = {{"rank", "rank", {}, kDropRank},
                                       {"empty", "an empty column"},
                                       {"type", "op type", {}, kDropOpType},
                                       {"line", "line"},
                                       {"message", "message"}};
  Row row;
  row.add("rank", 0).add("empty", nullptr).add("type", "Conv2D").add("line", "net.py:12").add("message", "is NaN");
  CHECK(table({row}, columns, 60) ==
        "rank  an empty column  op type  line       message\n"
        "   0  -                Conv2D   net.py:12  is NaN\n");
  CHECK(table({row}, columns, 40) == "rank  op type  line       message\n   0  Conv2D   net.py:12  is NaN\n");
  CHECK(table({row}, columns, 30) ==
        "rank  line       message\n   0  net.py:12  is NaN\n(columns that do not fit: op type)\n");
  CHECK(table({row}, columns, 20) ==
        "line       message\nnet.py:12  is NaN\n(columns that do not fit: op type, rank)\n");
  // The line and the message stay.
  CHECK(table({row}, columns, 16) == "line       mess…\nnet.py:12  is N…\n(columns that do not fit: op type, rank)\n");
}

TEST_CASE("table: a column is dropped only where the line is too wide by one") {
  const std::vector<Column> columns = {{"rank", "rank", {}, kDropRank}, {"name", "name"}, {"empty", "empty"}};
  Row row;
  row.add("rank", 0).add("name", "Conv2D").add("empty", nullptr);
  CHECK(table({row}, columns, 19) == "rank  name    empty\n   0  Conv2D  -\n");
  CHECK(table({row}, columns, 18) == "rank  name\n   0  Conv2D\n");
  CHECK(table({row}, columns, 12) == "rank  name\n   0  Conv2D\n");
  CHECK(table({row}, columns, 11) == "name\nConv2D\n(columns that do not fit: rank)\n");
  CHECK(table({row}, {{"empty", "empty"}}, 3) == "em…\n-\n");
}

TEST_CASE("table: a name beside numbers gives way before a column is dropped") {
  const std::vector<Column> columns = {{"rank", "rank", {}, kDropRank}, {"name", "name"}, {"count", "count"}};
  Row row;
  row.add("rank", 7).add("name", std::string(40, 'n')).add("count", 12);
  CHECK(table({row}, columns, 41) ==
        "rank  name                          count\n"
        "   7  nnnnnnnnn…nnnnnnnnnnnnnnnnnn     12\n");
}

TEST_CASE("table: of columns that may be dropped alike the first goes first") {
  const std::vector<Column> columns = {
      {"step", "step", {}, kDropStep}, {"format", "format", {}, kDropStep}, {"name", "name"}};
  Row row;
  row.add("step", 12).add("format", "NHWC").add("name", "Conv2D");
  CHECK(table({row}, columns, 17) == "format  name\nNHWC    Conv2D\n(columns that do not fit: step)\n");
}

TEST_CASE("table: names give way further where the last column, the message, would have no room") {
  const std::string name(40, 'n'), message(60, 'm');
  Row row;
  row.add("kind", "a kind of finding").add("name", name).add("message", message);
  const std::string text = table({row}, {{"kind", "kind"}, {"name", "name"}, {"message", "message"}}, 66);
  const std::string cut = "nnnnnn…nnnnnnnnnnnnnn";  // 21 columns: 66 - 17 - 24 and two gaps
  CHECK(text.substr(text.find('\n') + 1) == "a kind of finding  " + cut + "  " + std::string(23, 'm') + "…\n");
}

TEST_CASE("table: the widest text gives way first, and a number never") {
  Row row;
  row.add("number", 12345678901234567).add("name", std::string(40, 'n')).add("text", std::string(36, 't'));
  row.add("last", "end");
  // Of equally wide texts the first gives way.
  CHECK(table({row}, {}, 90) ==
        "           number  name                             text                              last\n"
        "12345678901234567  nnnnnnnnnn…nnnnnnnnnnnnnnnnnnnn  tttttttttt…ttttttttttttttttttttt  end\n");
}

TEST_CASE("table: without rows nothing is printed") { CHECK(table({}, {{"name", "name"}}).empty()); }

TEST_CASE("table: numbers are rounded for eyes") {
  CHECK(table({row_of("x", 0.1234567891)}) == "name     count\nx     0.123457\n");
  CHECK(table({row_of("x", 0.1234567891F)}) == "name     count\nx     0.123457\n");
  CHECK(table({row_of("x", -HUGE_VAL)}) == "name  count\nx      -inf\n");
}

TEST_CASE("table: after the look-ahead rows are printed as they come") {
  StringOutput out;
  const std::unique_ptr<RowSink> sink = make_sink(Form::kTable, out, {"ls", "1", {}, {}});
  for (size_t i = 1; i < kTableLookahead; ++i) REQUIRE(sink->row(row_of("a", 1)));
  CHECK(out.text().empty());
  REQUIRE(sink->row(row_of("a", 1)));
  const size_t printed = out.text().size();
  CHECK(printed > 0);
  REQUIRE(sink->row(row_of("a name longer than the column", 123456)));
  CHECK(out.text().substr(printed) == "a name longer than the column  123456\n");
}

}  // namespace
}  // namespace msdump::report
