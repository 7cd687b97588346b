// .npy files: numpy's array format, versions 1.0 to 3.0.
//
//   1. 6 bytes "\x93NUMPY", u8 major, u8 minor
//   2. header length: u16 (1.0) or u32 (2.0, 3.0), little-endian
//   3. header: a Python dict literal with exactly the keys descr, fortran_order and shape, in any order, padded with blanks
//      and a line feed; MindSpore pads 64 bytes more than numpy and writes the shape as (2,3,)
//   4. the elements
//
// MindSpore writes bfloat16, which numpy cannot read, as '<E2' (2.4 and later), '<T2' (2.3) or '<h2' (2.2).
// Source: numpy's format description; files of MindSpore 1.3 to 2.10.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/file.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::npy {

struct HeaderLiteral {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }: the three keys in any order, either quote, blanks
// between tokens. Anything else of Python is kBadNpy with the column.
Result<HeaderLiteral> parse_header_literal(std::string_view text);

struct Header {
  std::string descr;  // as written: "<f4"
  DType dtype = DType::kUndefined;
  bool readable_by_numpy = true;  // false for MindSpore's bfloat16
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;  // of all elements; the file has them, or more
};

// kBadNpy if the header is damaged, kUnsupportedDtype for structured, string and object arrays, kTruncated if elements are
// missing.
Result<Header> read_header(const File& file);

// The same for a file whose elements may be missing.
Result<Header> read_header_alone(const File& file);

// The header of an array of `size` bytes from its first bytes; kTooLarge if it does not end in them.
Result<Header> read_header(std::span<const std::byte> head, uint64_t size);

// The header that numpy writes for a C-order little-endian array. `dtype` has an npy spelling.
[[nodiscard]] std::string make_header(DType dtype, const Shape& shape);

[[nodiscard]] bool has_magic(std::span<const std::byte> head);

}  // namespace msdump::npy
