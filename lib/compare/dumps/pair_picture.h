// Everything that can be seen of a pair of tensors that differ: how large the error is how often, where it lies, the
// worst elements. Reads both tensors twice; for a few tensors, not for all.
#pragma once

#include <cstddef>
#include <optional>

#include "base/error.h"
#include "compare/pair/error_picture.h"
#include "compare/pair/second_look.h"
#include "compare/pair/tensor_diff.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/cancel.h"

namespace msdump {

inline constexpr size_t kPictureWorst = 20;  // elements

struct PairPicture {
  ErrorPicture error;
  SecondLook look;
};

struct PictureSide {
  const DumpIndex& index;
  const TensorRecord& tensor;
};

// `diff` is that of the two tensors. Elements of `a` are divided by `scale` first, but for the values of the worst elements,
// which are as stored. Nothing where they were not compared element by element, or are the same.
Result<std::optional<PairPicture>> picture_pair(const PictureSide& a, const PictureSide& b, const TensorDiff& diff,
                                                double scale, const CancelToken& cancel);

}  // namespace msdump
