// TokenTexts: what the ids of a tokenizer stand for, from a tokenizer.json of Hugging Face's tokenizers: `model.vocab`, which maps
// texts to ids, and `added_tokens`. Nothing else of the file counts.
//
//   byte-level     each byte of a text is a printable character, as GPT-2 has it ("\u0120the" is " the"); told by a vocabulary that
//                  has the character of the blank, U+0120
//   sentencepiece  U+2581 is a blank; told by any text with that
// Added tokens are written as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"

namespace msdump {

class TokenTexts {
 public:
  // Reads a file of at most 64 MiB. An error names it.
  static Result<TokenTexts> read(const std::string& path);
  static Result<TokenTexts> parse(std::string_view json);

  // The bytes of a token, which may be a part of a character; none for an id that the file does not have.
  [[nodiscard]] std::optional<std::string_view> of(int64_t id) const;

 private:
  std::unordered_map<int64_t, std::string> texts_;
};

}  // namespace msdump
