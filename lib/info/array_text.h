// The elements of a tensor as text: what numpy's print() writes with its default options.
//
//   * more than 1000 elements: the first and last three of each axis, "..." between them
//   * floats: 8 digits behind the point at most, all of one number of them; with exponents if one is 1e8 or more, below
//     1e-4, or if the largest is more than a thousand times the smallest; nan and inf right-aligned
//   * complex numbers: both parts so, each on its own; integers right-aligned; " True" and "False"
//   * brackets nested, lines of at most 75 columns, blank lines between planes
//   * a single element (shape ()): as str() of that number, in its full precision
// Source: numpy's documentation of printoptions, checked against numpy 1.24 over random arrays of every dtype.
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
