#include "msprobe/json_text.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace msdump {
namespace {

using Strings = std::vector<std::string>;

// "KEY=VALUE/DEPTH" of each member and what is left after the object, or the message of the error at its place.
Strings members_of(const std::string& text) {
  JsonMemberReader reader(text, 0);
  Strings found;
  for (;;) {
    const auto member = reader.next();
    if (!member) {
      CHECK(member.error().code == ErrorCode::kBadJson);
      CHECK(member.error().offset <= text.size());
      found.push_back("error: " + member.error().message);
      return found;
    }
    if (!*member) break;
    const auto& place = **member;
    found.push_back(place.key + "=" + text.substr(place.begin, place.end - place.begin) + "/" +
                    std::to_string(place.depth));
  }
  found.push_back("rest: " + text.substr(reader.end()));
  return found;
}

TEST_CASE("members are found with what follows the object") {
  CHECK(members_of("{}") == Strings{"rest: "});
  CHECK(members_of(" { } x") == Strings{"rest:  x"});
  CHECK(members_of(R"({"a":1,"b" : "x}\",{" , "c":NaN})") == Strings{"a=1/0", "b=\"x}\\\",{\"/0", "c=NaN/0", "rest: "});
  CHECK(members_of("{\"a\":\n[[{\"b\":\"]\"}],[]],\"a\":{}}") ==
        Strings{"a=[[{\"b\":\"]\"}],[]]/3", "a={}/1", "rest: "});
  CHECK(members_of(R"({"\u0041\n":[1,-2e3,null]})") == Strings{"A\n=[1,-2e3,null]/1", "rest: "});
}

TEST_CASE("what is not an object is refused with line and column") {
  const auto error = [](const std::string& text) { return members_of(text).back(); };
  CHECK(error("") == "error: line 1, column 1: the text ends inside an object");
  CHECK(error("[]") == "error: line 1, column 1: expected '{'");
  CHECK(error("{") == "error: line 1, column 2: the text ends inside an object");
  CHECK(error("{\n,}") == "error: line 2, column 1: expected the name of a member");
  CHECK(error("{\"a\"}") == "error: line 1, column 5: expected ':'");
  CHECK(error("{\"a\":}") == "error: line 1, column 6: expected a value");
  CHECK(error("{\"a\":") == "error: line 1, column 6: expected a value");
  CHECK(error("{\"a\":1") == "error: line 1, column 7: the text ends inside an object");
  CHECK(error("{\"a\":1,}") == "error: line 1, column 8: expected the name of a member");
  CHECK(error("{\"a\":1 2}") == "error: line 1, column 8: expected ',' or '}'");
  CHECK(error("{\"a\":\"x\"\"y\"}") == "error: line 1, column 9: expected ',' or '}'");
  CHECK(error("{\"a").find("error: line 1, column ") == 0);
  CHECK(error("{\"a\\").find("error: line 1, column ") == 0);
  CHECK(error("{\"a\":[1").find("error: line 1, column 8: the text ends") == 0);
}

TEST_CASE("errors inside a part tell their place in the whole text") {
  const std::string text = "{\n \"a\": [1,\n  ?]}";
  const auto value = parse_json_at(text, 8, text.size() - 1);
  REQUIRE_FALSE(value);
  CHECK(value.error().offset == 14);
  CHECK(value.error().message == "line 3, column 3: Invalid value.");
  CHECK(parse_json_at(text, 9, 10).value().text == "1");
}

}  // namespace
}  // namespace msdump
