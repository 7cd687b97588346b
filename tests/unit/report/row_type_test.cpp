#include "report/row_type.h"

#include "report/value.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

struct Line {
  std::string path;
  int64_t bytes = 0;
};

const ObjectType& place_type() {
  static const ObjectType type{"Place",
                               "A place.",
                               {{.key = "file", .type = "string", .text = "which file", .title = "file"},
                                {.key = "line", .type = "integer", .text = "which line"}}};
  return type;
}

std::string shout(const Row& row, std::string_view key) { return std::string(row.text(key)) + "!"; }

RowType<Line> line_rows() {
  return RowType<Line>("Line", "A line.")
      .add({.key = "path", .type = "string", .text = "its path", .title = "path", .cell = shout},
           [](const Line& line) -> Value { return line.path; })
      .add({.key = "bytes", .type = "integer?", .unit = "bytes", .text = "its size"},
           [](const Line& line) -> Value { return line.bytes == 0 ? Value() : Value(line.bytes); })
      .add({.key = "source", .type = "object|null", .text = "where it is from", .of = place_type},
           [](const Line&) -> Value { return {}; })
      .add({.key = "all", .type = "object[]", .text = "others", .of = place_type},
           [](const Line&) -> Value { return List(); });
}

std::vector<std::string> keys_of(const std::vector<Column>& columns) {
  std::vector<std::string> keys;
  for (const Column& column : columns) keys.push_back(column.key);
  return keys;
}

}  // namespace

TEST_CASE("a row has a value for each key, and an optional one only if there is one") {
  const RowType<Line> rows = line_rows();
  const Row with = rows.row({"a", 3}), without = rows.row({"a", 0});
  CHECK(with.text("path") == "a");
  CHECK(with.find("bytes") != nullptr);
  CHECK(without.find("bytes") == nullptr);
  // A key that may be null, but not be missing.
  REQUIRE(without.find("source") != nullptr);
  CHECK(without.find("source")->is_null());
}

TEST_CASE("columns flatten an object and keep a list as one cell") {
  const RowType<Line> rows = line_rows();
  const std::vector<Column> columns = rows.columns();
  CHECK(keys_of(columns) == std::vector<std::string>{"path", "bytes", "source.file", "source.line", "all"});
  CHECK(columns[0].title == "path");
  CHECK(columns[0].text(rows.row({"a", 1})) == "a!");
  CHECK(columns[2].title == "file");
  CHECK(keys_of(rows.columns({"source.line", "path"})) == std::vector<std::string>{"source.line", "path"});
}

TEST_CASE("a key is found by its path") {
  const RowType<Line> rows = line_rows();
  REQUIRE(rows.type().find("source.line") != nullptr);
  CHECK(rows.type().find("source.line")->text == "which line");
  CHECK(rows.type().find("source.nothing") == nullptr);
  CHECK(rows.type().find("path.file") == nullptr);
  CHECK(rows.type().find("nothing") == nullptr);
}

TEST_CASE("a type with more keys replaces those of the same name in their place") {
  const ObjectType type = place_type().with(
      "Other", "Another place.",
      {{.key = "line", .type = "null", .text = "none"}, {.key = "column", .type = "integer", .text = "which column"}});
  REQUIRE(type.keys.size() == 3);
  CHECK(type.name == "Other");
  CHECK(type.keys[1].type == "null");
  CHECK(type.keys[2].key == "column");
}

TEST_CASE("a row type includes the keys of its base") {
  struct Named : Line {
    std::string name;
  };
  const RowType<Named> rows = RowType<Named>("Named", "A named line.")
                                  .include(line_rows())
                                  .add({.key = "name", .type = "string", .text = "its name"},
                                       [](const Named& named) -> Value { return named.name; });
  Named named;
  named.path = "p";
  named.name = "n";
  const Row row = rows.row(named);
  CHECK(row.text("path") == "p");
  CHECK(row.text("name") == "n");
}

TEST_CASE("the alternatives of a type have no question mark") {
  const Key key{.key = "a", .type = "integer|null?"};
  CHECK(key.is_optional());
  CHECK(key.alternatives() == std::vector<std::string_view>{"integer", "null"});
}

TEST_CASE("hidden columns have no title") {
  std::vector<Column> columns = line_rows().columns();
  hide(columns, {"path"});
  CHECK(columns[0].title.empty());
  CHECK(columns[2].title == "file");
}

}  // namespace msdump::report
