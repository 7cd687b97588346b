#include "report/json.h"
#include "report/row_sink.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

Row made_row(int number) {
  Object source;
  source.add("file", "net\"" + std::to_string(number) + ".py").add("line", number);
  Row row;
  row.add("name", "x,\xff").add("source", source).add("shape", list_of(std::vector<int>{number, 2}));
  // Keys need not be in the places where they were in the row before.
  if (number % 2 == 0) row.add("extra", nullptr);
  row.add("value", number / 4.0).add("count", -number);
  return row;
}

std::string report(Form form, bool formatted) {
  StringOutput out;
  const std::unique_ptr<RowSink> sink = make_sink(form, out, {"ls", "1", {}, {}});
  REQUIRE(sink->row(made_row(0)));
  const auto formatter = sink->formatter();
  REQUIRE(formatter);
  for (int i = 1; i < 5; ++i) {
    std::string text;
    formatter->append(made_row(i), text);
    REQUIRE((formatted ? sink->write_formatted(text) : sink->row(made_row(i))));
  }
  REQUIRE(sink->finish({}));
  return out.text();
}

TEST_CASE("rows that a formatter made are those that the sink writes") {
  for (const Form form : {Form::kCsv, Form::kJson, Form::kJsonl}) {
    INFO(static_cast<int>(form));
    CHECK(report(form, true) == report(form, false));
  }
}

TEST_CASE("an object that is written as it is filled has the text of one that was filled before") {
  const auto fill = [](auto& object) {
    object.add("text", std::string("a\"b")).add("view", std::string_view("\xff")).add("literal", "c");
    object.add("null", Value()).add("number", 0.1F).add("large", UINT64_MAX).add("flag", true);
    object.add("unknown", std::optional<double>()).add("known", std::optional<std::string_view>("d"));
    object.add("list", list_of(std::vector<int>{1, 2})).add(std::string(41, 'k'), 1).add(std::string(41, 'n'), Value());
  };
  Object filled;
  fill(filled);
  filled.add("inner", filled).add("empty", Object());
  std::string text;
  {
    JsonObject written(text);
    fill(written);
    written.object("inner", fill).object("empty", [](JsonObject&) {});
  }
  std::string expected;
  append_json(expected, filled);
  CHECK(text == expected);
}

TEST_CASE("rows of a source that writes JSON itself are those of its objects") {
  const RowSource source{made_row,
                         [](size_t row, JsonObject& object) { object.add_members(made_row(static_cast<int>(row))); }};
  for (const Form form : {Form::kCsv, Form::kJsonl}) {
    StringOutput out;
    const std::unique_ptr<RowSink> sink = make_sink(form, out, {"ls", "1", {}, {{"name", ""}, {"count", ""}}});
    std::string text, expected;
    const auto formatter = sink->formatter();
    REQUIRE(formatter);
    formatter->append_row(source, 3, text);
    formatter->append(made_row(3), expected);
    CHECK(text == expected);
  }
}

TEST_CASE("a table has no formatter, nor has CSV before its columns are known") {
  StringOutput out;
  CHECK(!make_sink(Form::kTable, out, {"ls", "1", {}, {}})->formatter());
  CHECK(!make_sink(Form::kCsv, out, {"ls", "1", {}, {}})->formatter());
  CHECK(!make_sink(Form::kJson, out, {"ls", "1", {}, {}})->formatter());
}

TEST_CASE("csv: a character that needs quotes is seen anywhere in a cell") {
  for (const std::string special : {",", "\"", "\n", "\r", "\xc3\xa4,"}) {
    for (size_t size = 1; size < 20; ++size) {
      for (size_t at = 0; at < size; ++at) {
        std::string text(size, at % 2 == 0 ? '-' : '#');
        text.replace(at, 1, special);
        Row row;
        row.add("a", text);
        StringOutput out;
        const auto sink = make_sink(Form::kCsv, out, {"ls", "1", {}, {}});
        REQUIRE(sink->row(row));
        INFO(text);
        CHECK(out.text().substr(2, 1) == "\"");
        row = {};
        row.add("a", std::string(size, '+'));
        REQUIRE(sink->row(row));
        CHECK(out.text().ends_with("\n" + std::string(size, '+') + "\n"));
      }
    }
  }
}

}  // namespace
}  // namespace msdump::report
