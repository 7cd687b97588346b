// Values as JSON text on one line, without blanks. Every character that is_unprintable (base/text.h) is escaped, so that a
// document can be shown on a terminal; other UTF-8 is kept; a byte that is not
// UTF-8 is written as the lone surrogate \udcXX that Python's "surrogateescape" reads back.
#pragma once

#include <string>
#include <string_view>

#include "report/value.h"

namespace msdump::report {

void append_json(std::string& into, const Value& value);
void append_json(std::string& into, const Object& object);
void append_json_string(std::string& into, std::string_view text);

// Text in CSV: the same six characters \udcXX for a byte that is not UTF-8, and \u0000 for a NUL, at which readers of CSV
// stop; everything else as it is.
[[nodiscard]] std::string surrogate_escaped(std::string_view text);

}  // namespace msdump::report
