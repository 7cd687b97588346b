// Tensors of ATB operators that msprobe dumps: {in|out}tensorN.bin.
//
//   1. lines of text, NAME=VALUE: $Version, $Object.Count, $Object.Length, format, dtype, dims ("2,3"), and
//      $Object.data=OFFSET,LENGTH, or data=KEY if another file has the same elements
//   2. $End=1
//   3. the elements
//
// dtype and format are ACL's numbers, which are GE's. Limits against hostile input: 64 KiB of lines.
// Source: msprobe ccsrc/atb_probe/utils/bin_file.cpp and atb_probe.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "io/file.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::ascend {

struct AtbTensor {
  std::optional<DType> dtype;
  int32_t dtype_number = 0;
  int64_t format_number = 0;
  Shape shape;
  uint64_t offset = 0, bytes = 0;  // inside the file, unless there is a problem
  std::string same_as;             // the key of the file with the elements; empty: this file
  std::optional<Error> problem;
};

// kBadHeader if the lines are damaged.
Result<AtbTensor> read_atb_tensor(const File& file);

[[nodiscard]] bool looks_like_atb_tensor(std::span<const std::byte> head);

}  // namespace msdump::ascend
