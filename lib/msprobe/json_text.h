// Reads the members of a JSON object in order, without a tree of all of them. A dump.json of gigabytes holds millions of
// entries, each of them small.
//
// The text between members must be exact; a value is checked when it is parsed. Together these refuse what parse_json
// refuses. Errors are bad_json with offset, line and column in the whole text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
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

// Helpers of the readers of msprobe's JSON files: problems with their position, and the members of a large object one
// by one.

// Collects the parts of a text that were not understood, while the rest is read.
class JsonProblems {
 public:
  explicit JsonProblems(std::string_view text) : text_(text) {}

  // The offset of the error counts from `base`; it becomes an offset in the whole text, and the message gets line and
  // column. Errors come in the order of the text, so that every line is counted once.
  void add(Error error, size_t base);
  // For a value of an entry. Never returns an error, so that a reader can return the result.
  Status add(const JsonMemberPlace& member, const JsonValue& value, std::string_view what);
  void clear();

  ProblemList take(const std::string& path);

 private:
  std::string_view text_;
  ProblemList kept_;
  size_t counted_ = 0, line_ = 1, line_begin_ = 0;  // lines are counted up to here
};

// Reads a text that is one object: calls `entry` for each member in turn; oversized members are problems. `entries`
// counts all members.
using JsonEntry = std::function<Status(const JsonMemberPlace& member, const JsonValue& value)>;
Status read_json_entries(std::string_view text, uint64_t max_bytes, JsonProblems& problems, int64_t& entries,
                         const JsonEntry& entry);
// The same for the object whose '{' is at text[begin]. More text may follow it.
Status read_json_entries_at(std::string_view text, size_t begin, uint64_t max_bytes, JsonProblems& problems,
                            int64_t& entries, const JsonEntry& entry);

}  // namespace msdump
