#include "io/json.h"

#include <cmath>
#include <string>

#include "support/catch.h"

namespace msdump {

TEST_CASE("numbers keep their text and bare NaN and Infinity are numbers") {
  const auto json = parse_json(R"({"a": 2.0, "b": [NaN, -Infinity, 9223372036854775807, 1e3], "a": 3})");
  REQUIRE(json.has_value());
  const JsonValue* list = json->find("b");
  REQUIRE(list != nullptr);
  REQUIRE(list->items.size() == 4);
  CHECK(std::isnan(list->items[0].as_double().value()));
  CHECK(list->items[1].as_double() == -HUGE_VAL);
  CHECK(list->items[2].as_int() == INT64_MAX);
  CHECK_FALSE(list->items[3].as_int().has_value());
  CHECK(list->items[3].as_double() == 1000.0);
  CHECK(json->members[0].value.text == "2.0");
  const auto double_of = [](std::string_view text) { return parse_json(text).value().as_double(); };
  CHECK(double_of("Infinity") == HUGE_VAL);
  CHECK(double_of("Inf") == HUGE_VAL);
  CHECK(double_of("-Inf") == -HUGE_VAL);
  CHECK(double_of("-2.5e-3") == -0.0025);
  CHECK_FALSE(double_of("\"1\""));
}

TEST_CASE("keys that come twice are both kept and the last one is found") {
  const auto json = parse_json(R"({"k": 1, "k": 2})");
  REQUIRE(json.has_value());
  CHECK(json->members.size() == 2);
  REQUIRE(json->find("k") != nullptr);
  CHECK(json->find("k")->as_int() == 2);
  CHECK(json->find("other") == nullptr);
}

TEST_CASE("every value knows where it stands") {
  const std::string text = "{\n  \"key\" : [true,\n null, {\"x\": \"y\\n\"}]}";
  const auto json = parse_json(text);
  REQUIRE(json.has_value());
  const JsonMember& member = json->members.at(0);
  CHECK(text.substr(member.key_offset, 5) == "\"key\"");
  const std::vector<JsonValue>& items = member.value.items;
  CHECK(text[member.value.offset] == '[');
  CHECK(text.substr(items[0].offset, 4) == "true");
  CHECK(text.substr(items[1].offset, 4) == "null");
  CHECK(text[items[2].offset] == '{');
  CHECK(text[items[2].members[0].value.offset] == '"');
  CHECK(items[2].members[0].value.text == "y\n");
  const std::string nested = "[[1 ] , {\"a\":{}}, 22]";
  const auto list = parse_json(nested);
  REQUIRE(list.has_value());
  CHECK(nested.substr(list->items.at(1).offset, 2) == "{\"");
  CHECK(nested.substr(list->items.at(2).offset, 2) == "22");
  const TextPosition at = position_in(text, items[1].offset);
  CHECK(at.line == 3);
  CHECK(at.column == 2);
}

TEST_CASE("text that is not one JSON value is refused with line and column") {
  for (const std::string text : {"", "{", "[1,]", "{\"a\" 1}", "1 2", "nul", "{'a': 1}", "\"open"}) {
    const auto json = parse_json(text);
    REQUIRE_FALSE(json.has_value());
    CHECK(json.error().code == ErrorCode::kBadJson);
    CHECK(json.error().message.find("line 1, column") == 0);
    CHECK(json.error().offset.has_value());
  }
}

TEST_CASE("a tower of brackets is refused before it becomes a tower of calls") {
  CHECK(parse_json(std::string(100, '[') + std::string(100, ']')).has_value());
  const auto json = parse_json(std::string(100000, '['));
  REQUIRE_FALSE(json.has_value());
  CHECK(json.error().message.find("nested deeper than 100") != std::string::npos);
}

TEST_CASE("a text of very many short values is refused instead of taking a hundred times its size") {
  constexpr size_t kSpare = size_t{2} << 20;
  std::string text = "[";
  for (size_t i = 0; i < 100'000; ++i) text += "1,";
  text += "1]";
  const auto json = parse_json(text, kSpare);
  REQUIRE_FALSE(json.has_value());
  CHECK(json.error().message.ends_with("its values take more than 2 MiB of memory, the most that msdump allows"));
  CHECK(parse_json_or_fault(text, kSpare).error().beyond_limits);
  CHECK(parse_json(text));
  // Objects count, too, and so does what lies deeper.
  text = "[[[";
  for (size_t i = 0; i < 30'000; ++i) text += "{\"a\":0},";
  CHECK_FALSE(parse_json(text + "{}]]]", kSpare));
  CHECK(parse_json_or_fault(text + "{}]]]", kSpare).error().beyond_limits);
}

TEST_CASE("a list of many names and a long text are read") {
  std::string text = "[\"";
  text += std::string(20 << 20, 'x') + "\"";
  for (size_t i = 0; i < 100'000; ++i) text += ",\"Default/network/layer/Add-op123456\"";
  const auto json = parse_json(text + "]");
  REQUIRE(json);
  CHECK(json->items.size() == 100'001);
  CHECK(json->items[0].text.size() == 20 << 20);
}

TEST_CASE("columns are characters and a byte order mark is none") {
  const std::string text = "\xEF\xBB\xBF{\"\xE6\x95\xB0\xC3\xA9\": 1,\n \"\xF0\x9F\x98\x80\": x}";
  const auto column = [&](const char* what) { return position_in(text, text.find(what)).column; };
  CHECK(position_in(text, 0).column == 1);
  CHECK(column("{") == 1);
  CHECK(column("1,") == 8);
  CHECK(column("x}") == 7);
  CHECK(position_in(text, text.find("x}")).line == 2);
  CHECK(position_in(text, text.size() + 9).column == 9);
}

TEST_CASE("positions that go forward are those of each on its own") {
  const std::string text =
      "\xEF\xBB\xBF"
      "a\n\n\xC3\xA9\x80\xFFz\n";
  TextPositions positions(text);
  for (size_t offset = 0; offset <= text.size(); ++offset) {
    const TextPosition one = position_in(text, offset), next = positions.at(offset);
    CHECK((one.line == next.line && one.column == next.column));
  }
}

}  // namespace msdump
