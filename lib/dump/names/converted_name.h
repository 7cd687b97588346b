// Names of the arrays that msdump convert and msaccucmp write: FILE is the file that an array came from, io its section.
//
//   .npy   FILE.io.slot[.dims | .format[.dtype]]        dims: 2x3x4, "scalar"
//   .bin   FILE.io.slot.dims.dtype.format               dims: 2_3_4, "scalar"; the number of elements without -f
//          FILE.{l1buffer|space}.slot                   bytes
//   FILE.PARAMETER in place of FILE.io.slot, of a checkpoint
//
// Source: convert/output_name.h, reference/ascend-dump-file.md section 7.2.
#pragma once

#include <optional>
#include <string_view>

#include "dump/names/identity.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace msdump {

// The texts are views of the name that was parsed.
struct ConvertedName {
  std::string_view file;       // empty for an array of a checkpoint
  std::string_view parameter;  // with what follows it in an .npy, which only the shape tells apart; else empty
  Io io = Io::kOutput;
  std::string_view slot;
  std::optional<Shape> shape;  // of .bin; absent: all bytes of the file
  std::optional<Format> format;
  std::optional<DType> dtype;
};

[[nodiscard]] std::optional<ConvertedName> parse_converted_npy_name(std::string_view name);
[[nodiscard]] std::optional<ConvertedName> parse_converted_bin_name(std::string_view name);

// Without what convert adds to the name of a parameter: the dimensions, the format, or format and dtype. A parameter of one
// dimension whose own name ends in the number of its elements ("bias.8") loses that.
[[nodiscard]] std::string_view parameter_of(const ConvertedName& name, const Shape& shape);

}  // namespace msdump
