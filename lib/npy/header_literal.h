// The dict literal in an npy header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } with the keys in any
// order, either quote, blanks anywhere between tokens. Nothing else of Python is understood, and nothing is guessed.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "tensor/shape.h"

namespace msdump::npy {

struct HeaderLiteral {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// All three keys exactly once; bad_npy otherwise, naming the column.
Result<HeaderLiteral> parse_header_literal(std::string_view text);

}  // namespace msdump::npy
