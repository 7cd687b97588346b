#include "io/json.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <yaml.h>

#include "base/text.h"
#include "io/file.h"

namespace msdump {
namespace {

// Builds a JsonValue from the events of a parser of JSON or YAML. A call returns false to stop the parser; refusal() has the
// reason.
class JsonTree {
 public:
  // The tree takes at most twice the memory of its text, plus `spare_memory`.
  JsonTree(size_t text_bytes, size_t spare_memory) : budget_(2 * text_bytes + spare_memory) {}

  bool open(JsonKind kind, size_t offset);
  bool close();
  bool add_scalar(JsonKind kind, std::string_view text, size_t offset, bool boolean = false);
  bool key(std::string_view text, size_t offset);
  // True inside an object if the next event is a key.
  [[nodiscard]] bool wants_key() const;

  [[nodiscard]] const std::string& refusal() const { return refusal_; }  // empty: none
  JsonValue take() { return std::move(root_); }

 private:
  struct Open {
    JsonValue value;
    bool waits_for_value = false;  // the last member of the object has only its key
  };

  bool attach(JsonValue&& value);
  bool keep_text(std::string_view text, std::string& into);
  template <class T>
  bool append(std::vector<T>& to, T&& item);
  bool charge(size_t bytes);

  size_t budget_, used_ = 0;
  std::vector<Open> open_;  // objects and arrays that are not closed
  JsonValue root_;
  std::string refusal_;
};

constexpr size_t kMaxDepth = 100;

bool JsonTree::open(JsonKind kind, size_t offset) {
  if (open_.size() == kMaxDepth) {
    refusal_ = fmt::format("nested deeper than {}, the most that msdump reads", kMaxDepth);
    return false;
  }
  Open& opened = open_.emplace_back();
  opened.value.kind = kind;
  opened.value.offset = offset;
  return true;
}

bool JsonTree::close() {
  JsonValue value = std::move(open_.back().value);
  open_.pop_back();
  const auto spare = [](const auto& list) { return (list.capacity() - list.size()) * sizeof(list[0]); };
  used_ -= spare(value.items) + spare(value.members);
  value.items.shrink_to_fit();
  value.members.shrink_to_fit();
  return attach(std::move(value));
}

bool JsonTree::add_scalar(JsonKind kind, std::string_view text, size_t offset, bool boolean) {
  JsonValue value;
  value.kind = kind;
  value.offset = offset;
  value.boolean = boolean;
  return keep_text(text, value.text) && attach(std::move(value));
}

bool JsonTree::key(std::string_view text, size_t offset) {
  JsonMember member;
  member.key_offset = offset;
  open_.back().waits_for_value = true;
  return keep_text(text, member.key) && append(open_.back().value.members, std::move(member));
}

bool JsonTree::wants_key() const {
  return !open_.empty() && open_.back().value.is(JsonKind::kObject) && !open_.back().waits_for_value;
}

bool JsonTree::attach(JsonValue&& value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return true;
  }
  Open& parent = open_.back();
  if (parent.value.is(JsonKind::kArray)) return append(parent.value.items, std::move(value));
  parent.value.members.back().value = std::move(value);
  parent.waits_for_value = false;
  return true;
}

bool JsonTree::keep_text(std::string_view text, std::string& into) {
  if (!charge(text.size() > into.capacity() ? text.size() + 1 : 0)) return false;
  into.assign(text);
  return true;
}

// While a vector grows, its old and its new memory both exist.
template <class T>
bool JsonTree::append(std::vector<T>& to, T&& item) {
  const size_t before = to.capacity();
  if (to.size() == before) {
    const size_t after = std::max<size_t>(1, 2 * before);
    if (!charge(after * sizeof(T))) return false;
    to.reserve(after);
    used_ -= before * sizeof(T);
  }
  to.push_back(std::forward<T>(item));
  return true;
}

bool JsonTree::charge(size_t bytes) {
  used_ += bytes;
  if (used_ <= budget_) return true;
  refusal_ = fmt::format("its values take more than {} MiB of memory, the most that msdump allows", budget_ >> 20);
  return false;
}

// Passes RapidJSON's events to the tree. A token begins at the first byte after the previous token that is neither blank nor
// separator nor closing bracket.
class Events {
 public:
  Events(std::string_view text, const rapidjson::MemoryStream& stream, JsonTree& tree)
      : text_(text), stream_(stream), tree_(tree) {}

  bool Null() { return tree_.add_scalar(JsonKind::kNull, {}, token_begin()); }
  bool Bool(bool value) { return tree_.add_scalar(JsonKind::kBool, {}, token_begin(), value); }
  bool RawNumber(const char* from, rapidjson::SizeType length, bool) {
    return tree_.add_scalar(JsonKind::kNumber, {from, length}, token_begin());
  }
  bool String(const char* from, rapidjson::SizeType length, bool) {
    return tree_.add_scalar(JsonKind::kString, {from, length}, token_begin());
  }
  // Never called: numbers are kept as text.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  bool StartObject() { return open(JsonKind::kObject); }
  bool StartArray() { return open(JsonKind::kArray); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool Key(const char* from, rapidjson::SizeType length, bool) { return tree_.key({from, length}, token_begin()); }

 private:
  size_t token_begin() {
    size_t at = last_end_;
    while (at < text_.size() && std::string_view(" \t\r\n,:]}").find(text_[at]) != std::string_view::npos) ++at;
    last_end_ = stream_.Tell();
    return at;
  }

  bool open(JsonKind kind) {
    const size_t begin = token_begin();
    last_end_ = begin + 1;  // the iterative reader steps over the bracket only after this event
    return tree_.open(kind, begin);
  }

  bool close() {
    last_end_ = stream_.Tell();
    return tree_.close();
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  JsonTree& tree_;
  size_t last_end_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto found =
      std::find_if(members.rbegin(), members.rend(), [&](const JsonMember& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &found->value;
}

std::optional<int64_t> JsonValue::as_int() const { return is(JsonKind::kNumber) ? parse_i64(text) : std::nullopt; }

std::optional<double> JsonValue::as_double() const {
  if (!is(JsonKind::kNumber)) return std::nullopt;
  double value = 0;  // from_chars also reads NaN, Infinity and Inf
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

tl::expected<JsonValue, JsonFault> parse_json_or_fault(std::string_view text, size_t spare_memory) {
  constexpr unsigned kFlags =
      rapidjson::kParseNanAndInfFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseIterativeFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  JsonTree tree(text.size(), spare_memory);
  Events events(text, stream, tree);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, events);
  if (result) return tree.take();
  const bool refused = !tree.refusal().empty();
  const std::string reason = refused ? tree.refusal() : rapidjson::GetParseError_En(result.Code());
  return tl::unexpected<JsonFault>(JsonFault{result.Offset(), reason, refused});
}

Result<JsonValue> parse_json(std::string_view text, size_t spare_memory) {
  auto value = parse_json_or_fault(text, spare_memory);
  if (value) return std::move(*value);
  const JsonFault& fault = value.error();
  const TextPosition at = position_in(text, fault.offset);
  return fail(make_error(ErrorCode::kBadJson, "line {}, column {}: {}", at.line, at.column, fault.reason)
                  .with_offset(fault.offset));
}

Result<JsonValue> read_json(const std::string& path, uint64_t limit) {
  MSDUMP_TRY(const std::string text, read_text(path, limit, "a JSON file"));
  return parse_json(text);
}

TextPosition position_in(std::string_view text, size_t offset) { return TextPositions(text).at(offset); }

TextPositions::TextPositions(std::string_view text) : text_(text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) done_ = kByteOrderMark.size();
}

TextPosition TextPositions::at(size_t offset) {
  for (; done_ < std::min(offset, text_.size()); ++done_) {
    const auto byte = static_cast<unsigned char>(text_[done_]);
    if (byte == '\n') {
      position_ = {position_.line + 1, 1};
    } else if ((byte & 0xC0U) != 0x80U) {  // the others continue a character
      ++position_.column;
    }
  }
  return position_;
}

namespace {

constexpr uint64_t kMaxText = uint64_t{16} << 20;

// Converts libyaml's character counts to byte offsets. Fast for increasing counts.
class CharacterOffsets {
 public:
  explicit CharacterOffsets(std::string_view text) : text_(text) {}

  size_t of(size_t character) {
    if (character < character_) character_ = offset_ = 0;
    while (character_ < character && offset_ < text_.size()) {
      offset_ += std::max<size_t>(utf8_sequence_length(text_, offset_), 1);
      ++character_;
    }
    return offset_;
  }

 private:
  std::string_view text_;
  size_t character_ = 0, offset_ = 0;
};

// Owns libyaml's parser and the event it returned last.
class EventReader {
 public:
  explicit EventReader(std::string_view text) : ready_(yaml_parser_initialize(&parser_) != 0) {
    if (!ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    // libyaml requires a pointer even for an empty text.
    const char* const begin = text.empty() ? "" : text.data();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(begin), text.size());
  }
  ~EventReader() {
    drop();
    if (ready_) yaml_parser_delete(&parser_);
  }
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // The next event, valid until the next call; null if the text is not YAML.
  const yaml_event_t* next() {
    drop();
    if (!ready_ || yaml_parser_parse(&parser_, &event_) == 0) return nullptr;
    has_event_ = true;
    return &event_;
  }
  [[nodiscard]] const yaml_mark_t& problem_mark() const { return parser_.problem_mark; }
  [[nodiscard]] std::string_view problem() const { return parser_.problem == nullptr ? "not YAML" : parser_.problem; }

 private:
  void drop() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = false;
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_;
  bool has_event_ = false;
};

class TreeReader {
 public:
  explicit TreeReader(std::string_view text) : offsets_(text), events_(text), tree_(text.size(), kJsonSpareMemory) {}

  Result<JsonValue> read() {
    for (;;) {
      const yaml_event_t* const event = events_.next();
      if (event == nullptr) return bad(events_.problem_mark(), events_.problem());
      if (event->type == YAML_STREAM_END_EVENT) return tree_.take();
      MSDUMP_CHECK_OK(take(*event));
    }
  }

 private:
  tl::unexpected<Error> bad(const yaml_mark_t& mark, std::string_view what) {
    return fail(make_error(ErrorCode::kUsage, "line {}, column {}: {}", mark.line + 1, mark.column + 1, what)
                    .with_offset(offsets_.of(mark.index)));
  }

  Status take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (documents_++ > 0) return bad(event.start_mark, "a second document");
        return {};
      case YAML_ALIAS_EVENT: return bad(event.start_mark, "aliases are not read");
      case YAML_SCALAR_EVENT: return scalar(event);
      case YAML_MAPPING_START_EVENT: return open(event, JsonKind::kObject);
      case YAML_SEQUENCE_START_EVENT: return open(event, JsonKind::kArray);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT: return checked(event, tree_.close());
      default: return {};
    }
  }

  Status open(const yaml_event_t& event, JsonKind kind) {
    if (tree_.wants_key()) return bad_key(event);
    return checked(event, tree_.open(kind, offsets_.of(event.start_mark.index)));
  }

  Status scalar(const yaml_event_t& event) {
    const std::string_view text(reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length);
    const size_t offset = offsets_.of(event.start_mark.index);
    const bool null = text.empty() && event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (!tree_.wants_key())
      return checked(event, tree_.add_scalar(null ? JsonKind::kNull : JsonKind::kString, text, offset));
    return null ? bad_key(event) : checked(event, tree_.key(text, offset));
  }

  Status bad_key(const yaml_event_t& event) { return bad(event.start_mark, "a key that is not a text"); }

  Status checked(const yaml_event_t& event, bool taken) {
    if (taken) return {};
    return bad(event.start_mark, tree_.refusal());
  }

  CharacterOffsets offsets_;
  EventReader events_;
  JsonTree tree_;
  int documents_ = 0;
};

}  // namespace

Result<JsonValue> parse_yaml(std::string_view text) {
  if (text.size() > kMaxText) return fail(ErrorCode::kTooLarge, "{} bytes of YAML; at most {}", text.size(), kMaxText);
  return TreeReader(text).read();
}

Result<JsonValue> read_yaml_file(const std::string& path) {
  MSDUMP_TRY(const std::string text, read_text(path, kMaxText, "a YAML file"));
  return in_file(parse_yaml(text), path);
}

}  // namespace msdump
