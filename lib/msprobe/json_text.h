// What the readers of msprobe's json files share: which parts of a text were not understood, and where they stand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/capped_list.h"
#include "base/error.h"
#include "io/json.h"
#include "msprobe/json_members.h"

namespace msdump {

// What was not understood of a text while the rest was read.
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
// The same for the object whose '{' is at text[begin], whatever follows it.
Status read_json_entries_at(std::string_view text, size_t begin, uint64_t max_bytes, JsonProblems& problems,
                            int64_t& entries, const JsonEntry& entry);

}  // namespace msdump
