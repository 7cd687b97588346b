#include "io/yaml.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <yaml.h>

#include "io/file.h"

namespace msdump {
namespace {

constexpr size_t kMaxDepth = 100;
constexpr uint64_t kMaxText = uint64_t{16} << 20;

tl::unexpected<Error> bad_yaml(const yaml_mark_t& mark, std::string_view what) {
  return fail(make_error(ErrorCode::kUsage, "line {}, column {}: {}", mark.line + 1, mark.column + 1, what)
                  .with_offset(mark.index));
}

// The parser of libyaml, and the events that it gives, freed in time.
class EventReader {
 public:
  explicit EventReader(std::string_view text) : ready_(yaml_parser_initialize(&parser_) != 0) {
    if (!ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    // It insists on a pointer, also of an empty text.
    const char* const begin = text.empty() ? "" : text.data();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(begin), text.size());
  }
  ~EventReader() {
    drop();
    if (ready_) yaml_parser_delete(&parser_);
  }
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // The next event, good until the one after it.
  Result<const yaml_event_t*> next() {
    drop();
    if (!ready_) return fail(ErrorCode::kTooLarge, "no memory for a YAML parser");
    if (yaml_parser_parse(&parser_, &event_) == 0) {
      return bad_yaml(parser_.problem_mark, parser_.problem == nullptr ? "no YAML" : parser_.problem);
    }
    has_event_ = true;
    return &event_;
  }

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
  explicit TreeReader(std::string_view text) : events_(text) {}

  Result<JsonValue> read() {
    for (;;) {
      MSDUMP_TRY(const yaml_event_t* event, events_.next());
      if (event->type == YAML_STREAM_END_EVENT) return std::move(root_);
      MSDUMP_CHECK_OK(take(*event));
    }
  }

 private:
  Status take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (documents_++ > 0) return bad_yaml(event.start_mark, "a second document");
        return {};
      case YAML_ALIAS_EVENT: return bad_yaml(event.start_mark, "aliases are not read");
      case YAML_SCALAR_EVENT: return scalar(event);
      case YAML_MAPPING_START_EVENT: return open(event, JsonKind::kObject);
      case YAML_SEQUENCE_START_EVENT: return open(event, JsonKind::kArray);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT: {
        JsonValue value = std::move(open_.back());
        open_.pop_back();
        return put(event, std::move(value));
      }
      default: return {};
    }
  }

  Status open(const yaml_event_t& event, JsonKind kind) {
    if (open_.size() == kMaxDepth) return bad_yaml(event.start_mark, fmt::format("nested deeper than {}", kMaxDepth));
    JsonValue value;
    value.kind = kind;
    value.offset = event.start_mark.index;
    open_.push_back(std::move(value));
    return {};
  }

  Status scalar(const yaml_event_t& event) {
    JsonValue value;
    value.offset = event.start_mark.index;
    value.text.assign(reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length);
    const bool null = value.text.empty() && event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    value.kind = null ? JsonKind::kNull : JsonKind::kString;
    return put(event, std::move(value));
  }

  // Into the innermost open mapping, as a key or a value by turns, or sequence.
  Status put(const yaml_event_t& event, JsonValue&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return {};
    }
    JsonValue& parent = open_.back();
    if (parent.is(JsonKind::kArray)) {
      parent.items.push_back(std::move(value));
      return {};
    }
    if (const bool wants_key = parent.members.empty() || !waits_for_value(parent); wants_key) {
      if (!value.is(JsonKind::kString)) return bad_yaml(event.start_mark, "a key that is no text");
      JsonMember member;
      member.key = std::move(value.text);
      member.key_offset = value.offset;
      member.value.kind = JsonKind::kBool;  // stands for "no value yet": no value of YAML has this kind
      parent.members.push_back(std::move(member));
    } else {
      parent.members.back().value = std::move(value);
    }
    return {};
  }

  static bool waits_for_value(const JsonValue& object) { return object.members.back().value.is(JsonKind::kBool); }

  EventReader events_;
  std::vector<JsonValue> open_;  // the mappings and sequences not closed yet
  JsonValue root_;
  int documents_ = 0;
};

}  // namespace

Result<JsonValue> parse_yaml(std::string_view text) {
  if (text.size() > kMaxText) return fail(ErrorCode::kTooLarge, "{} bytes of YAML; at most {}", text.size(), kMaxText);
  return TreeReader(text).read();
}

Result<JsonValue> read_yaml_file(const std::string& path) {
  MSDUMP_TRY(const File file, File::open(path));
  if (file.size() > kMaxText) {
    return fail(
        make_error(ErrorCode::kTooLarge, "{} bytes of YAML; at most {}", file.size(), kMaxText).with_path(path));
  }
  std::string text(static_cast<size_t>(file.size()), '\0');
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  auto value = parse_yaml(text);
  if (!value) return fail(std::move(value.error()).with_path(path));
  return value;
}

}  // namespace msdump
