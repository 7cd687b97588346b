#include "config/json_faults.h"

#include <string>

#include "io/json.h"
#include "support/catch.h"

namespace msdump {
namespace {

using Kinds = std::vector<JsonSlipKind>;

Kinds kinds_of(const RepairedJson& mended) {
  Kinds kinds;
  for (const JsonSlip& slip : mended.slips) kinds.push_back(slip.kind);
  return kinds;
}

// The text mended and read.
JsonValue mended_value(const std::string& text) {
  const RepairedJson mended = repair_json(text);
  INFO(text << "\n" << mended.text);
  CHECK(mended.text.size() == text.size());
  const auto value = parse_json(mended.text);
  REQUIRE(value);
  return *value;
}

}  // namespace

TEST_CASE("JSON that is right is left as it is") {
  for (const std::string text :
       {"{}", R"({"a": "// no comment", "b": "it's", "c": "# neither, ] }", "d": [1, {"e": "\"'"}]})",
        "[true, null]"}) {
    const RepairedJson mended = repair_json(text);
    CHECK(mended.slips.empty());
    CHECK(mended.text == text);
  }
}

TEST_CASE("comments are found and blanked with their line ends kept") {
  const std::string text = "{ // one\n\"a\": 1, /* two\n */ \"b\": 2 # three\n}";
  const RepairedJson mended = repair_json(text);
  CHECK(kinds_of(mended) == Kinds(3, JsonSlipKind::kComment));
  CHECK(text.substr(mended.slips[1].offset, 6) == "/* two");
  CHECK(position_in(mended.text, mended.text.find("\"b\"")).line == 3);
  CHECK(mended_value(text).find("b")->as_int() == 2);
}

TEST_CASE("a comma after the last item is found where it stands, also in front of a comment") {
  const std::string text = "{\"a\": [1, 2, ], \"b\": 3, // last\n}";
  const RepairedJson mended = repair_json(text);
  CHECK(kinds_of(mended) == Kinds{JsonSlipKind::kTrailingComma, JsonSlipKind::kTrailingComma, JsonSlipKind::kComment});
  CHECK(mended.slips[0].offset == text.find(", ]"));
  CHECK(mended.slips[1].offset == text.find(", //"));
  CHECK(mended_value(text).find("a")->items.size() == 2);
}

TEST_CASE("a comma between two closing brackets belongs to the outer one") {
  CHECK(repair_json("[[1], ]").slips.at(0).offset == 4);
  CHECK(repair_json("[[1],[2]]").slips.empty());
}

TEST_CASE("texts in single quotes become texts unless that would move what follows") {
  CHECK(mended_value("{'a': 'b c'}").find("a")->text == "b c");
  const RepairedJson mended = repair_json(R"({'a"b': 1})");
  CHECK(kinds_of(mended) == Kinds{JsonSlipKind::kSingleQuotes});
  CHECK_FALSE(parse_json(mended.text));
}

TEST_CASE("Python's words are taken for JSON's") {
  const JsonValue value = mended_value("[True, False, None, \"True\"]");
  CHECK(value.items[0].boolean);
  CHECK(value.items[1].is(JsonKind::kBool));
  CHECK(value.items[2].is(JsonKind::kNull));
  CHECK(value.items[3].text == "True");
  CHECK(repair_json("[Truest]").slips.empty());
}

TEST_CASE("a byte order mark is found and blanked") {
  const RepairedJson mended = repair_json("\xEF\xBB\xBF{}");
  CHECK(kinds_of(mended) == Kinds{JsonSlipKind::kByteOrderMark});
  CHECK(mended.text == "   {}");
}

TEST_CASE("texts that end in the middle of anything are mended without reading on") {
  for (const std::string text : {"/", "/*", "/* *", "//", "'", "'a", "\"", "\"\\", "[,", ",]", "T", "#", "\xEF\xBB"}) {
    CHECK(repair_json(text).text.size() == text.size());
  }
}

}  // namespace msdump
