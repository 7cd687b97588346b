#include "io/yaml.h"

#include <algorithm>

#include <yaml.h>

#include "base/text.h"
#include "io/json_tree.h"
#include "io/read_text.h"

namespace msdump {
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

  // The next event, valid until the one after it; null when the text is not YAML.
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
    if (!tree_.wants_key()) return checked(event, tree_.put(null ? JsonKind::kNull : JsonKind::kString, text, offset));
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
