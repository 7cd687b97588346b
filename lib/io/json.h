// JSON and YAML as a tree in which every value knows its offset, for messages with line and column.
//
// JSON: numbers keep their text (2.0 is not 2, and 2^63 is exact). NaN, Infinity and -Infinity are accepted, because
// msprobe writes them. Duplicate keys are all kept. RapidJSON parses.
// YAML: one document of mappings, sequences and texts, as people write settings. Every scalar is a text ("3", "true" and
// "~" too), an empty plain one is null; offsets count characters. libyaml parses.
//
// Limits against hostile input: nesting at most 100 deep; memory at most 4 times the text and 64 MiB, which refuses very
// many very short values. YAML: 16 MiB, and no aliases, which make small texts large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump {

enum class JsonKind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

struct JsonMember;

struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  bool boolean = false;
  size_t offset = 0;                // of its first byte in the text
  std::string text;                 // of a string, unescaped; of a number, as written
  std::vector<JsonValue> items;     // of an array
  std::vector<JsonMember> members;  // of an object, in the order of the text

  // The value of the last member of that name; null if there is none.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;
  [[nodiscard]] std::optional<int64_t> as_int() const;    // a whole number that fits
  [[nodiscard]] std::optional<double> as_double() const;  // any number, NaN and Infinity too
  [[nodiscard]] bool is(JsonKind wanted) const { return kind == wanted; }
};

struct JsonMember {
  std::string key;
  size_t key_offset = 0;
  JsonValue value;
};

inline constexpr size_t kJsonSpareMemory = size_t{64} << 20;

// kBadJson with the offset if the text is not exactly one JSON value.
Result<JsonValue> parse_json(std::string_view text, size_t spare_memory = kJsonSpareMemory);

// Reads a whole file; kTooLarge if it has more than `limit` bytes.
Result<JsonValue> read_json(const std::string& path, uint64_t limit);

// For callers that describe a syntax error in their own words.
struct JsonFault {
  size_t offset = 0;
  std::string reason;          // "Missing a comma or } after an object member."
  bool beyond_limits = false;  // nested too deep, or a tree that takes too much memory
};
[[nodiscard]] tl::expected<JsonValue, JsonFault> parse_json_or_fault(std::string_view text,
                                                                     size_t spare_memory = kJsonSpareMemory);

struct TextPosition {
  size_t line = 1, column = 1;  // column in characters; a byte order mark does not count
};
[[nodiscard]] TextPosition position_in(std::string_view text, size_t offset);
// The positions of increasing offsets, in one pass over the text.
class TextPositions {
 public:
  explicit TextPositions(std::string_view text);
  TextPosition at(size_t offset);

 private:
  std::string_view text_;
  size_t done_ = 0;
  TextPosition position_;
};

// kUsage with "line L, column C: .." if the text is not one such document. No document is null.
Result<JsonValue> parse_yaml(std::string_view text);

Result<JsonValue> read_yaml_file(const std::string& path);

}  // namespace msdump
