#include "io/json.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "base/text.h"

namespace msdump {
namespace {

constexpr size_t kMaxDepth = 100;

// Builds the tree. Positions: a token begins at the first byte behind the last token that is no blank, separator or closing
// bracket.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const rapidjson::MemoryStream& stream) : text_(text), stream_(stream) {}

  bool Null() { return put(JsonKind::kNull, {}, false); }
  bool Bool(bool value) { return put(JsonKind::kBool, {}, value); }
  bool RawNumber(const char* from, rapidjson::SizeType length, bool) {
    return put(JsonKind::kNumber, {from, length}, false);
  }
  bool String(const char* from, rapidjson::SizeType length, bool) {
    return put(JsonKind::kString, {from, length}, false);
  }
  // With numbers kept as text the reader calls none of these.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

  bool StartObject() { return open(JsonKind::kObject); }
  bool StartArray() { return open(JsonKind::kArray); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  bool Key(const char* from, rapidjson::SizeType length, bool) {
    JsonMember member;
    member.key.assign(from, length);
    member.key_offset = token_begin();
    open_.back().members.push_back(std::move(member));
    return true;
  }

  [[nodiscard]] bool too_deep() const { return too_deep_; }
  JsonValue take() { return std::move(root_); }

 private:
  size_t token_begin() {
    size_t at = last_end_;
    while (at < text_.size() && std::string_view(" \t\r\n,:]}").find(text_[at]) != std::string_view::npos) ++at;
    last_end_ = stream_.Tell();
    return at;
  }

  bool put(JsonKind kind, std::string_view text, bool boolean) {
    JsonValue value;
    value.kind = kind;
    value.offset = token_begin();
    value.text = text;
    value.boolean = boolean;
    return attach(std::move(value));
  }

  bool open(JsonKind kind) {
    JsonValue value;
    value.kind = kind;
    value.offset = token_begin();
    last_end_ = value.offset + 1;  // the iterative reader takes the bracket only after it has told of it
    open_.push_back(std::move(value));
    too_deep_ = open_.size() > kMaxDepth;
    return !too_deep_;
  }

  bool close() {
    last_end_ = stream_.Tell();
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    return attach(std::move(value));
  }

  bool attach(JsonValue&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is(JsonKind::kObject)) {
      open_.back().members.back().value = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  std::vector<JsonValue> open_;  // the objects and arrays not closed yet
  JsonValue root_;
  size_t last_end_ = 0;
  bool too_deep_ = false;
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
  // from_chars reads "nan" and "inf" in any case, but not Python's "Infinity" without its sign rules; spell them out.
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-Inf") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

tl::expected<JsonValue, JsonFault> parse_json_or_fault(std::string_view text) {
  constexpr unsigned kFlags =
      rapidjson::kParseNanAndInfFlag | rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseIterativeFlag;
  rapidjson::MemoryStream stream(text.data(), text.size());
  TreeBuilder builder(text, stream);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (result) return builder.take();
  if (builder.too_deep()) {
    const std::string reason = fmt::format("nested deeper than {}, which is all that msdump reads", kMaxDepth);
    return tl::unexpected<JsonFault>(JsonFault{result.Offset(), reason, true});
  }
  return tl::unexpected<JsonFault>(JsonFault{result.Offset(), rapidjson::GetParseError_En(result.Code())});
}

Result<JsonValue> parse_json(std::string_view text) {
  auto value = parse_json_or_fault(text);
  if (value) return std::move(*value);
  const JsonFault& fault = value.error();
  const TextPosition at = position_in(text, fault.offset);
  return fail(make_error(ErrorCode::kBadJson, "line {}, column {}: {}", at.line, at.column, fault.reason)
                  .with_offset(fault.offset));
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

}  // namespace msdump
