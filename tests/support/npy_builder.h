// Builds .npy files, good and with one named fault, without lib/npy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msdump::test {

struct NpySpec {
  int major = 1;
  std::string literal = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  std::string data = std::string(24, '\1');
  bool has_padding = true;  // blanks to a multiple of 64 and a line feed
};

[[nodiscard]] std::string build_npy(const NpySpec& spec);
// The usual literal; `shape` as Python writes it: "(2, 3)".
[[nodiscard]] std::string npy_literal(std::string_view descr, std::string_view shape, bool fortran_order = false);

// A good file is float32 of shape (2, 3).
enum class NpyFault {
  kNone,
  kMagicOnly,
  kBadMagic,
  kVersionZero,
  kVersionFour,
  kHeaderPastEnd,
  kHeaderLengthBomb,  // version 2, 2^32-1
  kHeaderTooLong,     // 2 MiB of blanks, really there
  kNotADict,
  kQuoteNotClosed,
  kEscapeInKey,
  kKeyMissing,
  kKeyTwice,
  kKeyUnknown,
  kKeyWithLineFeed,
  kTextBehind,
  kShapeIsNumber,  // (6)
  kShapeIsList,
  kDimNegative,
  kDimFloat,
  kDimTooLong,  // 2^64
  kRankAboveLimit,
  kDimProductOverflows,
  kByteCountWraps,  // times 4 is 24 modulo 2^64
  kDescrStructured,
  kDescrObject,
  kDescrString,
  kDescrUnicode,
  kDescrLongDouble,
  kDescrEmpty,
  kDataCut,
  kDataMissing,
  kLast_,
};

[[nodiscard]] std::string_view name_of(NpyFault fault);
[[nodiscard]] std::vector<NpyFault> all_npy_faults();
[[nodiscard]] std::string build_faulty_npy(NpyFault fault);

}  // namespace msdump::test
