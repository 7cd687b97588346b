// Finds and mends what people write into JSON by hand that is not JSON, so that a program can report all of it at once
// and read the rest of the file:
//
//   1. a byte order mark at the front
//   2. comments: // to the end of the line, # to the end of the line, /* to */
//   3. a comma after the last item of a list or an object
//   4. texts in single quotes
//   5. True, False and None, as Python prints them
//
// The mended text has as many bytes as the file, so that an offset in the one is an offset in the other. Linear time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace msdump {

enum class JsonSlipKind : uint8_t { kByteOrderMark, kComment, kTrailingComma, kSingleQuotes, kPythonWord };

struct JsonSlip {
  JsonSlipKind kind = JsonSlipKind::kComment;
  size_t offset = 0;
};

struct MendedJson {
  std::string text;
  std::vector<JsonSlip> slips;  // in the order of the text
};
[[nodiscard]] MendedJson mend_json(std::string_view text);

}  // namespace msdump
