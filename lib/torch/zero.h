// What DeepSpeed's ZeRO saves of the parameters that it partitions over the data-parallel ranks.
//
//   [zero_pp_rank_R_]mp_rank_MM_model_states.pt   {"module": .., "param_shapes": [{name: torch.Size}, ..] by parameter group,
//                                                 "frozen_param_shapes": {name: torch.Size} or None, "shared_params": {alias: name}}
//   [bf16_]zero_pp_rank_R_mp_rank_MM_optim_states.pt
//                                                 {"optimizer_state_dict": {"partition_count": ranks, or a list of them,
//                                                 "fp32_flat_groups" (stage 3) or "single_partition_of_fp32_groups" (1, 2): [1-D
//                                                 tensor, ..] by parameter group}}
// Limits against hostile input: 100,000 names of 1 KiB.
// Source: deepspeed/utils/zero_to_fp32.py, runtime/engine.py and runtime/zero/ of DeepSpeed, of 2021 to 2026.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/shape.h"
#include "torch/pickle.h"

namespace msdump::torch {

struct ZeroShapes {
  using Group = std::vector<std::pair<std::string, Shape>>;
  std::vector<Group> groups;  // of param_shapes; none: not a file of model_states, or damaged
  Group frozen;
  std::vector<std::pair<std::string, std::string>> shared;  // alias and name
};
[[nodiscard]] ZeroShapes zero_shapes_of(const Pickle& pickle);

// The number of ranks that the parameters are partitioned over, of optim_states; the largest of several.
[[nodiscard]] std::optional<int64_t> zero_ranks_of(const Pickle& pickle);

}  // namespace msdump::torch
