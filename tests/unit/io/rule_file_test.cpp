#include "io/rule_file.h"

#include "support/catch.h"

namespace msdump {
namespace {

constexpr RuleFormat kFormat = {
    .content = "rules", .rule = "rules", .most_bytes = 1000, .most_rules = 3, .most_line_bytes = 100};

// "line:column:text" of each rule; an error ends the list.
std::string rules_in(std::string_view text, const RuleFormat& format = kFormat) {
  std::string all;
  const Status read = for_each_rule(text, format, [&](const RuleLine& line) -> Status {
    all += fmt::format("{}:{}:{} ", line.number, line.column, line.text);
    return {};
  });
  return read ? all : all + read.error().message;
}

TEST_CASE("blank lines, comments and a byte order mark are no rules") {
  CHECK(rules_in("\xEF\xBB\xBF"
                 "a b  # why\r\n\n \t\n  # c\n\tx#y") == "1:1:a b 5:2:x#y ");
  CHECK(rules_in("").empty());
  RuleFormat format = kFormat;
  format.trailing_comments = false;
  CHECK(rules_in("# a\nb # c\n", format) == "2:1:b # c ");
}

TEST_CASE("words have the column of the line") {
  const auto line = RuleReader("\n  ab \t c # d", kFormat).next();
  REQUIRE(line);
  const std::vector<RuleWord> words = (*line)->words();
  REQUIRE(words.size() == 2);
  CHECK((words[0].text == "ab" && words[0].column == 3));
  CHECK((words[1].text == "c" && words[1].column == 8));
  CHECK((*line)->wrong(words[1], make_error(ErrorCode::kUsage, "no")).value().message == "line 2, column 8: no");
  CHECK((*line)->wrong(make_error(ErrorCode::kUsage, "no")).value().message == "line 2: no");
}

TEST_CASE("a rule file is bounded") {
  CHECK(rules_in(std::string(1001, '\n')) == "1001 bytes of rules; at most 1000");
  CHECK(rules_in("a\n" + std::string(101, '#')) == "1:1:a line 2: 101 bytes; at most 100");
  CHECK(rules_in("a\nb\n\nc\nd") == "1:1:a 2:1:b 4:1:c line 5: more than 3 rules");
}

TEST_CASE("keys, values and integers") {
  CHECK(key_value_of(" a = b=c ").key == "a");
  CHECK(key_value_of(" a = b=c ").value == "b=c");
  CHECK(key_value_of("a=").value == "");
  CHECK_FALSE(key_value_of("a").value);
  CHECK(integer_within("by", "8", 1, 8) == 8);
  for (const char* const text : {"9", "0", "", "x", "8.0"})
    CHECK(integer_within("by", text, 1, 8).error().message == fmt::format("by={}: must be a number from 1 to 8", text));
}

}  // namespace
}  // namespace msdump
