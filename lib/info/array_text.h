// The elements of a tensor as text and as values of a report.
//
// Text: a line for each row of the last axis, after its place ("[0, 2, :]") if there are several rows. Numbers have
// eight significant digits and are aligned; a long row continues on the next line. "..." stands for what is left out.
#pragma once

#include <string>

#include "info/shown_array.h"
#include "report/value.h"

namespace msdump {

// Without a line feed at its end.
[[nodiscard]] std::string array_text(const ShownArray& array);

// Nested lists, a number for a single element; a complex number is [real, imaginary]. Of an array with everything shown.
[[nodiscard]] report::Value array_value(const ShownArray& array);

}  // namespace msdump
