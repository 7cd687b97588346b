// Why a text is not JSON, in words for its author: what stands where the reader stopped, instead of what the reader
// expected there.
//
//   in a string     a line end, a tab or another control character; an escape that JSON does not have
//   in a number     0x1, 01, +1
//   anywhere else   blanks and punctuation that look like JSON's but are other characters; words without quotes; text
//                   after the value
#pragma once

#include <string>
#include <string_view>

#include "io/json.h"

namespace msdump {

// Empty when the reader's own reason says it all.
[[nodiscard]] std::string explain_fault(std::string_view text, const JsonFault& fault);

// By its byte order mark, or by the zero bytes of its first two characters.
[[nodiscard]] bool is_utf16(std::string_view text);

}  // namespace msdump
