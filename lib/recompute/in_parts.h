// Judges an operator whose tensors are too large to hold, or take too long to compute.
//
//   products, convolutions            some rows exactly, all of them by a projection (projection.h)
//   kernels that work element by element, by rows, or behind the axes in front: in blocks along these, one after the other
#pragma once

#include <optional>
#include <vector>

#include "recompute/judge.h"
#include "recompute/question.h"

namespace msdump::recompute {

// An output to judge, and its elements or their source; null: no file has it.
struct WrittenOutput {
  std::string_view name;  // of the kernel; empty: see find_output()
  Tensor y;
  uint32_t slot = UINT32_MAX;
};

// By place in `outputs`; an output without judgement has a reason. None if the operator is not computed in parts: a product of at most
// `most_multiplications`, outputs of one block, or a kernel that needs all of its operands.
[[nodiscard]] std::optional<std::vector<Judgement>> judge_in_parts(const Kernel& kernel, const Call& call,
                                                                   const std::vector<WrittenOutput>& outputs,
                                                                   const DeviceTraits& device,
                                                                   double most_multiplications);

}  // namespace msdump::recompute
