// The members of a JSON object in order, without a tree of all of them: a dump.json of gigabytes holds millions of
// entries, each of them small.
//
// The text between members must be exact; a value is checked when it is parsed. Together these refuse what parse_json
// refuses. Errors are bad_json with offset, line and column in the whole text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/json.h"

namespace msdump {

struct JsonMemberPlace {
  std::string key;            // unescaped
  size_t begin = 0, end = 0;  // of the value in the text; its brackets are balanced by number, not by kind
  size_t depth = 0;           // of the brackets in it
};

class JsonMemberReader {
 public:
  // The object's '{' must be at text[begin].
  JsonMemberReader(std::string_view text, size_t begin) : text_(text), at_(begin) {}

  // The next member; no value after the last one.
  Result<std::optional<JsonMemberPlace>> next();
  // The place after the '}', once next() has returned no value.
  [[nodiscard]] size_t end() const { return at_; }
  // Once next() has returned no value: an error unless only white space follows the '}'.
  [[nodiscard]] Status check_end() const;

 private:
  Result<JsonMemberPlace> member();

  std::string_view text_;
  size_t at_;
  bool opened_ = false;
};

// The value at a place. Its offsets count from there; those of an error count from the start of the whole text.
Result<JsonValue> parse_json_at(std::string_view text, size_t begin, size_t end);

// The first byte from `at` on that is not JSON white space; the size of the text if there is none.
[[nodiscard]] size_t skip_json_space(std::string_view text, size_t at);

// bad_json: "line L, column C: WHAT".
[[nodiscard]] tl::unexpected<Error> bad_json(std::string_view text, size_t offset, std::string_view what);

}  // namespace msdump
