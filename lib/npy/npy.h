// The dict literal in an npy header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } with the keys in any
// order, either quote, blanks anywhere between tokens. Nothing else of Python is understood, and nothing is guessed.
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

// All three keys exactly once; bad_npy otherwise, naming the column.
Result<HeaderLiteral> parse_header_literal(std::string_view text);

// .npy files: numpy's array format, versions 1.0 to 3.0.
//
//   1. 6 bytes "\x93NUMPY", u8 major, u8 minor
//   2. header length: u16 (1.0) or u32 (2.0, 3.0), little-endian
//   3. header: a Python dict literal with exactly the keys descr, fortran_order, shape, in any order, padded with blanks,
//      ending in a line feed; MindSpore pads 64 bytes more than numpy would and writes the shape as (2,3,)
//   4. the elements
//
// dtypes numpy cannot read: MindSpore writes bfloat16 as '<E2' (2.4 and later), '<T2' (2.3) or '<h2' (2.2).
// Source: numpy's format description; reference/dump-layouts-and-statistics.md section 4 (checked on files of 1.3 to 2.10).

struct Header {
  std::string descr;  // as written: "<f4"
  DType dtype = DType::kUndefined;
  bool readable_by_numpy = true;  // false for MindSpore's bfloat16
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;  // what the shape needs; the file has at least that
};

// bad_npy for anything the grammar does not allow, unsupported_dtype for structured, string and object arrays, truncated
// when the elements are not all there.
Result<Header> read_header(const File& file);

// The same without checking that the elements are there: what a truncated file should hold.
Result<Header> read_header_alone(const File& file);

// That of an array of `size` bytes of which only the first are here: too_large if the header does not end in them.
Result<Header> read_header(std::span<const std::byte> head, uint64_t size);

// The header numpy would write for a C-order little-endian array; `dtype` must be one numpy knows.
[[nodiscard]] std::string make_header(DType dtype, const Shape& shape);

[[nodiscard]] bool has_magic(std::span<const std::byte> head);

}  // namespace msdump::npy
