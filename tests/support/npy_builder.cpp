#include "support/npy_builder.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "support/dump_builder.h"

namespace msdump::test {
namespace {

using enum NpyFault;

constexpr std::string_view kMagic = "\x93NUMPY";

constexpr std::array<std::string_view, static_cast<size_t>(kLast_)> kNames = {"none",
                                                                              "magic only",
                                                                              "bad magic",
                                                                              "version zero",
                                                                              "version four",
                                                                              "header past end",
                                                                              "header length bomb",
                                                                              "header too long",
                                                                              "not a dict",
                                                                              "quote not closed",
                                                                              "escape in key",
                                                                              "key missing",
                                                                              "key twice",
                                                                              "key unknown",
                                                                              "key with line feed",
                                                                              "text after",
                                                                              "shape is a number",
                                                                              "shape is a list",
                                                                              "dim negative",
                                                                              "dim float",
                                                                              "dim too long",
                                                                              "rank above limit",
                                                                              "dim product overflows",
                                                                              "byte count wraps",
                                                                              "descr structured",
                                                                              "descr object",
                                                                              "descr string",
                                                                              "descr unicode",
                                                                              "descr long double",
                                                                              "descr empty",
                                                                              "data cut",
                                                                              "data missing"};

std::string with_literal(std::string literal) { return build_npy({.literal = std::move(literal)}); }
std::string with_shape(std::string_view shape) { return with_literal(npy_literal("<f4", shape)); }
std::string with_descr(std::string_view descr) { return with_literal(npy_literal(descr, "(2, 3)")); }

std::string container_fault(NpyFault fault) {
  std::string file = build_npy({});
  switch (fault) {
    case kMagicOnly: return file.substr(0, 6);
    case kBadMagic: file[5] = 'Z'; return file;
    case kVersionZero: file[6] = 0; return file;
    case kVersionFour: file[6] = 4; return file;
    case kHeaderPastEnd: file[9] = 1; return file;  // 256 bytes more
    case kHeaderLengthBomb:
      file = build_npy({.major = 2});
      file.replace(8, 4, 4, '\xff');
      return file;
    case kHeaderTooLong:
      return build_npy({.major = 2, .literal = NpySpec{}.literal + std::string(size_t{2} << 20, ' ')});
    case kDataCut: file.pop_back(); return file;
    case kDataMissing: return build_npy({.data = {}});
    default: return {};
  }
}

}  // namespace

std::string npy_literal(std::string_view descr, std::string_view shape, bool fortran_order) {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

std::string build_npy(const NpySpec& spec) {
  const size_t prefix = spec.major == 1 ? 10 : 12;
  std::string literal = spec.literal;
  if (spec.has_padding) {
    while ((prefix + literal.size() + 1) % 64 != 0) literal += ' ';
    literal += '\n';
  }
  std::string file(kMagic);
  file += static_cast<char>(spec.major);
  file += '\0';
  if (spec.major == 1) {
    put_u16(file, static_cast<uint16_t>(literal.size()));
  } else {
    put_u32(file, static_cast<uint32_t>(literal.size()));
  }
  return file + literal + spec.data;
}

std::string_view name_of(NpyFault fault) { return kNames.at(static_cast<size_t>(fault)); }

std::vector<NpyFault> all_npy_faults() {
  std::vector<NpyFault> faults;
  for (int i = 0; i < static_cast<int>(kLast_); ++i) faults.push_back(static_cast<NpyFault>(i));
  return faults;
}

std::string build_faulty_npy(NpyFault fault) {
  switch (fault) {
    case kNone: return build_npy({});
    case kNotADict: return with_literal("['descr']");
    case kQuoteNotClosed: return with_literal("{'descr: <f4, }");
    case kEscapeInKey: return with_literal("{'\\x64escr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    case kKeyMissing: return with_literal("{'descr': '<f4', 'shape': (2, 3), }");
    case kKeyTwice: return with_literal("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (1,), }");
    case kKeyUnknown: return with_literal("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'extra': 1, }");
    case kKeyWithLineFeed: return with_literal("{'a\n\x1b[31m" + std::string(100, 'b') + "': 1, }");
    case kTextBehind: return with_literal(NpySpec{}.literal + " import os");
    case kShapeIsNumber: return with_shape("(6)");
    case kShapeIsList: return with_shape("[2, 3]");
    case kDimNegative: return with_shape("(-2, 3)");
    case kDimFloat: return with_shape("(2.0, 3)");
    case kDimTooLong: return with_shape("(18446744073709551616, 3)");
    case kRankAboveLimit: {
      std::string shape = "(";
      for (int i = 0; i < 100; ++i) shape += "1, ";
      return with_shape(shape + ")");
    }
    case kDimProductOverflows: return with_shape("(1099511627776, 1099511627776)");
    case kByteCountWraps: return with_shape("(2, 2305843009213693955)");
    case kDescrStructured:
      return with_literal("{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,), }");
    case kDescrObject: return with_descr("|O");
    case kDescrString: return with_descr("|S4");
    case kDescrUnicode: return with_descr("<U1");
    case kDescrLongDouble: return with_descr("<f16");
    case kDescrEmpty: return with_descr("");
    case kLast_: throw std::invalid_argument("no such fault");
    default: return container_fault(fault);
  }
}

}  // namespace msdump::test
