// Texts that people write by hand and that are not quite JSON.
//
// repair_json() finds and repairs common slips, so that a program can report all of them at once and read the rest of
// the file:
//   1. a byte order mark at the front
//   2. comments: // or # to the end of the line, /* to */
//   3. a comma after the last item of a list or an object
//   4. texts in single quotes
//   5. True, False and None, as Python prints them
// The repaired text has as many bytes as the file, so an offset in either is an offset in both. Linear time.
//
// explain_fault() says why a text is not JSON: it names the characters in the text, not those that the parser expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"

namespace msdump {

enum class JsonSlipKind : uint8_t { kByteOrderMark, kComment, kTrailingComma, kSingleQuotes, kPythonWord };

struct JsonSlip {
  JsonSlipKind kind = JsonSlipKind::kComment;
  size_t offset = 0;
};

struct RepairedJson {
  std::string text;
  std::vector<JsonSlip> slips;  // in the order of the text
};
[[nodiscard]] RepairedJson repair_json(std::string_view text);

// Explains in strings: line ends, control characters, unknown escapes; in numbers: 0x1, 01, +1. Elsewhere: characters that
// look like JSON's blanks and punctuation, words without quotes, text after the value. Empty for any other fault.
[[nodiscard]] std::string explain_fault(std::string_view text, const JsonFault& fault);

// True if the text has a UTF-16 byte order mark, or a zero byte in each of its first two characters.
[[nodiscard]] bool is_utf16(std::string_view text);

}  // namespace msdump
