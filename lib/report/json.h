// Values as JSON text on one line, without blanks.
//
//   unprintable characters   are escaped (is_unprintable in base/text.h), so that a terminal can show a document
//   other UTF-8              is kept
//   other bytes              become the lone surrogate \udcXX, which Python's "surrogateescape" reads back
#pragma once

#include <string>
#include <string_view>

#include "report/value.h"

namespace msdump::report {

void append_json(std::string& into, const Value& value);
void append_json(std::string& into, const Object& object);
void append_json_string(std::string& into, std::string_view text);

// Text in CSV: a byte that is not UTF-8 becomes the same six characters \udcXX. A NUL becomes \u0000, because readers of
// CSV stop at it. All else is kept.
[[nodiscard]] std::string surrogate_escaped(std::string_view text);

}  // namespace msdump::report
