#include "io/json.h"

#include <algorithm>
#include <charconv>

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "base/text.h"
#include "io/json_tree.h"
#include "io/read_text.h"

namespace msdump {
namespace {

// Passes RapidJSON's events to the tree. A token begins at the first byte after the last token that is not a blank, a
// separator or a closing bracket.
class Events {
 public:
  Events(std::string_view text, const rapidjson::MemoryStream& stream, JsonTree& tree)
      : text_(text), stream_(stream), tree_(tree) {}

  bool Null() { return tree_.put(JsonKind::kNull, {}, token_begin()); }
  bool Bool(bool value) { return tree_.put(JsonKind::kBool, {}, token_begin(), value); }
  bool RawNumber(const char* from, rapidjson::SizeType length, bool) {
    return tree_.put(JsonKind::kNumber, {from, length}, token_begin());
  }
  bool String(const char* from, rapidjson::SizeType length, bool) {
    return tree_.put(JsonKind::kString, {from, length}, token_begin());
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

}  // namespace msdump
