#include "msprobe/json_text.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace msdump {
namespace {

constexpr size_t kMaxDepth = 90;  // for the brackets of an entry: a little less than parse_json accepts

// The error of an entry that is not read at all, because its tree could take too much memory or is too deep for
// parse_json.
std::optional<Error> oversized_entry(const JsonMemberPlace& member, uint64_t max_bytes) {
  const std::string name = excerpt(member.key);
  if (member.depth > kMaxDepth) {
    return make_error(ErrorCode::kBadJson, "{}: nested deeper than {}", name, kMaxDepth).with_offset(0);
  }
  const size_t bytes = member.end - member.begin;
  if (bytes <= max_bytes) return std::nullopt;
  return make_error(ErrorCode::kTooLarge, "{}: takes {} bytes", name, bytes).with_offset(0);
}

Status read_members(JsonMemberReader& members, std::string_view text, uint64_t max_bytes, JsonProblems& problems,
                    int64_t& entries, const JsonEntry& entry) {
  for (;; ++entries) {
    MSDUMP_TRY(const auto member, members.next());
    if (!member) return {};
    if (auto error = oversized_entry(*member, max_bytes)) {
      problems.add(std::move(*error), member->begin);
      continue;
    }
    MSDUMP_TRY(const auto value, parse_json_at(text, member->begin, member->end));
    MSDUMP_CHECK_OK(entry(*member, value));
  }
}

}  // namespace

void JsonProblems::add(Error error, size_t base) {
  if (kept_.is_full()) return kept_.add(std::move(error));
  const size_t offset = base + static_cast<size_t>(error.offset.value_or(0));
  const std::string_view between = text_.substr(counted_, offset - counted_);
  line_ += static_cast<size_t>(std::count(between.begin(), between.end(), '\n'));
  if (const size_t last = between.rfind('\n'); last != std::string_view::npos) line_begin_ = counted_ + last + 1;
  counted_ = offset;
  error.message = fmt::format("line {}, column {}: {}", line_, offset - line_begin_ + 1, error.message);
  error.offset = offset;
  kept_.add(std::move(error));
}

Status JsonProblems::add(const JsonMemberPlace& member, const JsonValue& value, std::string_view what) {
  add(make_error(ErrorCode::kBadJson, "{}: {}", excerpt(member.key), what).with_offset(value.offset), member.begin);
  return {};
}

void JsonProblems::clear() { kept_.clear(); }

ProblemList JsonProblems::take(const std::string& path) {
  for (Error& problem : kept_) problem.path = path;
  return std::exchange(kept_, {});
}

Status read_json_entries(std::string_view text, uint64_t max_bytes, JsonProblems& problems, int64_t& entries,
                         const JsonEntry& entry) {
  JsonMemberReader members(text, 0);
  MSDUMP_CHECK_OK(read_members(members, text, max_bytes, problems, entries, entry));
  return members.check_end();
}

Status read_json_entries_at(std::string_view text, size_t begin, uint64_t max_bytes, JsonProblems& problems,
                            int64_t& entries, const JsonEntry& entry) {
  JsonMemberReader members(text, begin);
  return read_members(members, text, max_bytes, problems, entries, entry);
}

}  // namespace msdump
