#include "compare/tokens/token_texts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

constexpr uint64_t kMostTokenizerBytes = uint64_t{64} << 20;
constexpr std::string_view kBlank = "\xE2\x96\x81", kByteOfBlank = "\xC4\xA0";  // U+2581, U+0120

// The byte of each character of GPT-2's alphabet: printable bytes are themselves, and the others, in their order, follow U+00FF.
class ByteAlphabet {
 public:
  ByteAlphabet() {
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 0x100; ++byte) {
      const bool is_printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
      bytes_[is_printable ? byte : next++] = static_cast<int16_t>(byte);
    }
  }

  // Characters outside of the alphabet stay.
  [[nodiscard]] std::string decoded(std::string_view text) const {
    std::string bytes;
    for (size_t at = 0, length = 0; at < text.size(); at += length) {
      length = std::max<size_t>(1, utf8_sequence_length(text, at));
      const uint32_t character = code_point(text, at, length);
      if (character < bytes_.size() && bytes_[character] >= 0) {
        bytes += static_cast<char>(bytes_[character]);
      } else {
        bytes += text.substr(at, length);
      }
    }
    return bytes;
  }

 private:
  std::array<int16_t, 0x144> bytes_ = [] {
    std::array<int16_t, 0x144> none{};
    none.fill(-1);
    return none;
  }();
};

std::string with_blanks(std::string_view text) {
  std::string result;
  for (size_t at = text.find(kBlank); at != std::string_view::npos; at = text.find(kBlank)) {
    result += text.substr(0, at);
    result += ' ';
    text.remove_prefix(at + kBlank.size());
  }
  return result += text;
}

// Calls take(member) for each member of the object at text[begin]; the end of the object.
template <class Take>
Result<size_t> for_each_member(std::string_view text, size_t begin, std::string_view name, const Take& take) {
  if (begin >= text.size() || text[begin] != '{')
    return bad_json(text, std::min(begin, text.size()), std::string(name) + " is no object");
  JsonMemberReader members(text, begin);
  for (;;) {
    MSDUMP_TRY(const auto member, members.next());
    if (!member) return members.end();
    MSDUMP_CHECK_OK(take(*member));
  }
}

}  // namespace

Result<TokenTexts> TokenTexts::parse(std::string_view json) {
  TokenTexts result;
  std::vector<std::pair<int64_t, std::string>> added;
  bool has_vocabulary = false, has_blank = false, has_byte = false;
  const auto take_word = [&](const JsonMemberPlace& word) -> Status {
    const auto id = parse_i64(json.substr(word.begin, word.end - word.begin));
    if (!id) return bad_json(json, word.begin, "an id in model.vocab is no whole number");
    has_blank = has_blank || word.key.find(kBlank) != std::string::npos;
    has_byte = has_byte || word.key == kByteOfBlank;
    result.texts_[*id] = word.key;
    return {};
  };
  const auto take_of_model = [&](const JsonMemberPlace& member) -> Status {
    if (member.key != "vocab") return {};
    has_vocabulary = true;
    return for_each_member(json, member.begin, "model.vocab", take_word).map([](size_t) {});
  };
  const auto take = [&](const JsonMemberPlace& member) -> Status {
    if (member.key == "model") return for_each_member(json, member.begin, "model", take_of_model).map([](size_t) {});
    if (member.key != "added_tokens") return {};
    MSDUMP_TRY(const JsonValue tokens, parse_json_at(json, member.begin, member.end));
    for (const JsonValue& token : tokens.items) {
      const JsonValue *const id = token.find("id"), *const content = token.find("content");
      if (id == nullptr || !id->as_int() || content == nullptr || !content->is(JsonKind::kString))
        return bad_json(json, member.begin + token.offset, "an entry of added_tokens has no id and content");
      added.emplace_back(*id->as_int(), content->text);
    }
    return {};
  };
  MSDUMP_TRY(const size_t end, for_each_member(json, skip_json_space(json, 0), "a tokenizer", take));
  if (skip_json_space(json, end) != json.size()) return bad_json(json, end, "more text behind the tokenizer");
  if (!has_vocabulary) return bad_json(json, 0, "no model.vocab: this is no tokenizer.json");
  const ByteAlphabet alphabet;
  for (auto& [id, text] : result.texts_) {
    if (has_blank) {
      text = with_blanks(text);
    } else if (has_byte) {
      text = alphabet.decoded(text);
    }
  }
  for (auto& [id, text] : added) result.texts_[id] = std::move(text);
  return result;
}

Result<TokenTexts> TokenTexts::read(const std::string& path) {
  MSDUMP_TRY(const std::string text, read_text(path, kMostTokenizerBytes, "a tokenizer"));
  Result<TokenTexts> texts = parse(text);
  if (!texts) return fail(std::move(texts).error().with_path(path));
  return texts;
}

std::optional<std::string_view> TokenTexts::of(int64_t id) const {
  const auto found = texts_.find(id);
  return found == texts_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

}  // namespace msdump
