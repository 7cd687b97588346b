#include "report/json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "report/row_sink.h"

namespace msdump::report {
namespace {

void append_code(std::string& into, unsigned code) {
  constexpr unsigned kFirstOfPairs = 0x10000;
  if (code < kFirstOfPairs) {
    fmt::format_to(std::back_inserter(into), "\\u{:04x}", code);
  } else {
    code -= kFirstOfPairs;
    fmt::format_to(std::back_inserter(into), "\\u{:04x}\\u{:04x}", 0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF));
  }
}

void append_bad_byte(std::string& into, char byte) { append_code(into, 0xDC00U + static_cast<uint8_t>(byte)); }

void append_ascii(std::string& into, char c) {
  switch (c) {
    case '"': into += "\\\""; return;
    case '\\': into += "\\\\"; return;
    case '\n': into += "\\n"; return;
    case '\r': into += "\\r"; return;
    case '\t': into += "\\t"; return;
    default: break;
  }
  if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
    append_code(into, static_cast<uint8_t>(c));
  } else {
    into += c;
  }
}

// True if one of eight bytes is not printable ASCII that JSON writes unchanged.
bool any_special(const char* bytes) {
  constexpr uint64_t kEach = 0x0101'0101'0101'0101, kHigh = 0x80 * kEach;
  const auto any_below = [](uint64_t word, uint64_t bound) { return (word - bound * kEach) & ~word & kHigh; };
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  const uint64_t not_ascii = (word | (word + kEach)) & kHigh;  // the addition makes 0x80 of 0x7F
  return (not_ascii | any_below(word, 0x20) | any_below(word ^ '"' * kEach, 1) | any_below(word ^ '\\' * kEach, 1)) !=
         0;
}

// The end of the printable ASCII from `at` on that JSON writes unchanged.
size_t plain_end(std::string_view text, size_t at) {
  while (at + sizeof(uint64_t) <= text.size() && !any_special(text.data() + at)) at += sizeof(uint64_t);
  while (at < text.size() && text[at] >= 0x20 && text[at] < 0x7F && text[at] != '"' && text[at] != '\\') ++at;
  return at;
}

// Non-finite numbers are strings: JSON has no spelling for them and null would lose which one it was.
template <class T>
void append_float(std::string& into, T value) {
  if (!std::isfinite(value)) into += '"';
  append_number_text(into, value);
  if (!std::isfinite(value)) into += '"';
}

struct Appender {
  std::string& into;

  void operator()(std::monostate) const { into += "null"; }
  void operator()(bool value) const { into += value ? "true" : "false"; }
  void operator()(int64_t value) const { append(fmt::format_int(value)); }
  void operator()(uint64_t value) const { append(fmt::format_int(value)); }
  void operator()(float value) const { append_float(into, value); }
  void operator()(double value) const { append_float(into, value); }
  void operator()(const std::string& value) const { append_json_string(into, value); }
  void operator()(const Object& value) const { append_json(into, value); }
  void operator()(const List& values) const {
    into += '[';
    bool first = true;
    for (const Value& value : values) {
      if (!first) into += ',';
      first = false;
      append_json(into, value);
    }
    into += ']';
  }

 private:
  void append(const fmt::format_int& digits) const { into.append(digits.data(), digits.size()); }
};

}  // namespace

void append_json(std::string& into, const Value& value) { std::visit(Appender{into}, value.storage()); }

namespace {

constexpr size_t kShortKey = 40;

// A plain key of at most kShortKey bytes, and its value if it is null. Most values of a row are: these are one append.
void append_short_key(std::string& into, std::string_view key, bool first, bool is_null) {
  constexpr std::string_view kNull = "null";
  std::array<char, kShortKey + 4 + kNull.size()> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  char* end = text.data();
  if (!first) *end++ = ',';
  *end++ = '"';
  end = std::copy(key.begin(), key.end(), end);
  *end++ = '"';
  *end++ = ':';
  if (is_null) end = std::copy(kNull.begin(), kNull.end(), end);
  into.append(text.data(), static_cast<size_t>(end - text.data()));
}

void append_member(std::string& into, const Member& member, bool first) {
  const std::string_view key = member.key;
  if (key.size() > kShortKey || plain_end(key, 0) != key.size()) {
    if (!first) into += ',';
    append_json_string(into, key);
    into += ':';
    return append_json(into, member.value);
  }
  append_short_key(into, key, first, member.value.is_null());
  if (!member.value.is_null()) append_json(into, member.value);
}

}  // namespace

void append_json(std::string& into, const Object& object) {
  into += '{';
  bool first = true;
  for (const Member& member : object.members()) append_member(into, member, std::exchange(first, false));
  into += '}';
}

void JsonObject::begin_member(std::string_view key, bool is_null) {
  const bool first = std::exchange(first_, false);
  if (key.size() <= kShortKey) return append_short_key(into_, key, first, is_null);
  into_.append(first ? "\"" : ",\"").append(key).append(is_null ? "\":null" : "\":");
}

void JsonObject::append_member(std::string_view key, const Value& value) {
  begin_member(key, value.is_null());
  if (!value.is_null()) append_json(into_, value);
}

void append_json_string(std::string& into, std::string_view text) {
  into += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t plain = plain_end(text, at);  // most texts are plain to their end
    into.append(text, at, plain - at);
    if ((at = plain) == text.size()) break;
    const size_t length = utf8_sequence_length(text, at);
    if (length == 0) {
      append_bad_byte(into, text[at]);
    } else if (length == 1) {
      append_ascii(into, text[at]);
    } else if (const uint32_t code = code_point(text, at, length); is_unprintable(code)) {
      append_code(into, code);
    } else {
      into.append(text.substr(at, length));
    }
    at += length == 0 ? 1 : length;
  }
  into += '"';
}

std::string surrogate_escaped(std::string_view text) {
  std::string escaped;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text, at);
    if (length == 0) {
      append_bad_byte(escaped, text[at]);
    } else if (text[at] == '\0') {
      append_code(escaped, 0);
    } else {
      escaped.append(text.substr(at, length));
    }
    at += length == 0 ? 1 : length;
  }
  return escaped;
}

namespace {

class JsonFormatter : public RowFormatter {
 public:
  JsonFormatter(std::string_view before, std::string_view after) : before_(before), after_(after) {}
  void append(const Row& row, std::string& text) override {
    text += before_;
    append_json(text, row);
    text += after_;
  }
  void append_row(const RowSource& source, size_t row, std::string& text) override {
    if (!source.json) return append(source.row(row), text);
    text += before_;
    {
      JsonObject object(text);
      source.json(row, object);
    }
    text += after_;
  }

 private:
  std::string_view before_, after_;  // of each row
};

class JsonSink : public RowSink {
 public:
  JsonSink(TextOutput& out, Report report, std::optional<Closing>* held)
      : out_(out), report_(std::move(report)), held_(held) {}
  std::unique_ptr<RowFormatter> formatter() const override {
    return first_ ? nullptr : std::make_unique<JsonFormatter>(",\n", "");
  }

 private:
  TextOutput& output() override { return out_; }

  Status begin() override {
    Object head;
    head.add("schema", kSchema)
        .add("command", report_.command)
        .add("version", report_.version)
        .add("dumps", list_of(report_.dumps));
    buffer_.clear();
    append_json(buffer_, head);
    buffer_.back() = ',';  // the closing brace comes with the end of the document
    buffer_ += "\"rows\":[";
    return out_.write(buffer_);
  }

  Status add(const Row& row) override {
    buffer_ = first_ ? "\n" : ",\n";
    first_ = false;
    append_json(buffer_, row);
    return out_.write(buffer_);
  }

  Status end(Closing&& closing) override {
    MSDUMP_CHECK_OK(out_.write(first_ ? "]" : "\n]"));
    if (held_ == nullptr) return write_json_end(out_, closing);
    *held_ = std::move(closing);
    return {};
  }

  TextOutput& out_;
  Report report_;
  std::optional<Closing>* held_;
  std::string buffer_;
  bool first_ = true;
};

class JsonlSink : public RowSink {
 public:
  explicit JsonlSink(TextOutput& out) : out_(out) {}
  std::unique_ptr<RowFormatter> formatter() const override { return std::make_unique<JsonFormatter>("", "\n"); }

 private:
  TextOutput& output() override { return out_; }
  Status begin() override { return {}; }

  Status add(const Row& row) override {
    buffer_.clear();
    JsonFormatter("", "\n").append(row, buffer_);
    return out_.write(buffer_);
  }

  Status end(Closing&&) override { return {}; }

  TextOutput& out_;
  std::string buffer_;
};

}  // namespace

std::unique_ptr<RowSink> make_json_sink(TextOutput& out, Report&& report, const SinkOptions& options) {
  return std::make_unique<JsonSink>(out, std::move(report), options.held);
}

Status write_json_end(TextOutput& out, const Closing& closing) {
  std::string text;
  const auto append_key = [&](std::string_view key, const Value& value) {
    text += ",\n";
    append_json_string(text, key);
    text += ':';
    append_json(text, value);
  };
  append_key("summary", closing.summary);
  append_key("failures", list_of(closing.failures));
  for (const Member& member : closing.further.members()) append_key(member.key, member.value);
  text += "}\n";
  return out.write(text);
}

std::unique_ptr<RowSink> make_jsonl_sink(TextOutput& out, Report&&, const SinkOptions&) {
  return std::make_unique<JsonlSink>(out);
}

}  // namespace msdump::report
