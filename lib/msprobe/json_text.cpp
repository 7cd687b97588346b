#include "msprobe/json_text.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace msdump {
namespace {

// After the string that begins at `at`, or the end of the text.
size_t skip_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

bool ends_scalar(char c) { return std::string_view(",:]} \t\r\n\"{[").find(c) != std::string_view::npos; }

// After the value that begins at `at`; `depth` becomes that of its brackets.
size_t skip_value(std::string_view text, size_t at, size_t& depth) {
  size_t open = 0;
  depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
    } else {
      ++at;
      if (c == '{' || c == '[') depth = std::max(depth, ++open);
      if (c == '}' || c == ']') --open;
      const bool scalar = depth == 0;
      while (scalar && at < text.size() && !ends_scalar(text[at])) ++at;
    }
    if (open == 0) return at;
  }
  return at;
}

bool begins_value(std::string_view text, size_t at) {
  return at < text.size() && std::string_view(",:]}").find(text[at]) == std::string_view::npos;
}

}  // namespace

size_t skip_json_space(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

tl::unexpected<Error> bad_json(std::string_view text, size_t offset, std::string_view what) {
  const TextPosition at = position_in(text, offset);
  return fail(make_error(ErrorCode::kBadJson, "line {}, column {}: {}", at.line, at.column, what).with_offset(offset));
}

Result<JsonValue> parse_json_at(std::string_view text, size_t begin, size_t end) {
  auto value = parse_json(text.substr(begin, end - begin));
  if (value) return value;
  // The message begins with a position in the part; replace it with that in the whole text.
  const std::string& message = value.error().message;
  const size_t what = message.find(": ");
  return bad_json(text, begin + static_cast<size_t>(value.error().offset.value_or(0)),
                  what == std::string::npos ? message : std::string_view(message).substr(what + 2));
}

Status JsonMemberReader::check_end() const {
  const size_t rest = skip_json_space(text_, at_);
  if (rest != text_.size()) return bad_json(text_, rest, "more text after the object");
  return {};
}

Result<std::optional<JsonMemberPlace>> JsonMemberReader::next() {
  at_ = skip_json_space(text_, at_);
  if (at_ == text_.size()) return bad_json(text_, at_, "the text ends inside an object");
  const char c = text_[at_];
  if (!opened_) {
    if (c != '{') return bad_json(text_, at_, "expected '{'");
  } else if (c == '}') {
    ++at_;
    return std::nullopt;
  } else if (c != ',') {
    return bad_json(text_, at_, "expected ',' or '}'");
  }
  at_ = skip_json_space(text_, at_ + 1);
  if (!opened_ && at_ < text_.size() && text_[at_] == '}') {
    ++at_;
    return std::nullopt;
  }
  opened_ = true;
  MSDUMP_TRY(auto place, member());
  return place;
}

Result<JsonMemberPlace> JsonMemberReader::member() {
  JsonMemberPlace place;
  if (at_ == text_.size()) return bad_json(text_, at_, "the text ends inside an object");
  if (text_[at_] != '"') return bad_json(text_, at_, "expected the name of a member");
  const size_t key_end = skip_string(text_, at_);
  MSDUMP_TRY(auto key, parse_json_at(text_, at_, key_end));
  place.key = std::move(key.text);
  at_ = skip_json_space(text_, key_end);
  if (at_ == text_.size() || text_[at_] != ':') return bad_json(text_, at_, "expected ':'");
  place.begin = skip_json_space(text_, at_ + 1);
  if (!begins_value(text_, place.begin)) return bad_json(text_, place.begin, "expected a value");
  place.end = at_ = skip_value(text_, place.begin, place.depth);
  return place;
}

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
