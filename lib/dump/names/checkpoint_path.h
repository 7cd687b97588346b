// The rank and the step that the path of a checkpoint's file says, if a model was saved in parts or in versions:
//
//   rank_R, rankR, mp_rank_R, tp_rank_R, .. in a folder or a file's name    MindSpore, FSDP, Megatron, DeepSpeed
//   consolidated.R.pth                                                      Llama
//   layer_L-model_R-model_states.pt                                         DeepSpeed's pipelines
//   iter_N, global_stepN, step_N, checkpoint-N                              Megatron, DeepSpeed, Transformers
//
// MindSpore's NAME-EPOCH_STEP.ckpt is a version, too, but has no number that orders all versions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msdump {

struct CheckpointPath {
  std::optional<int64_t> rank, step;
  std::string rest;  // the path without these: "iter_5/mp_rank_01/model.pt" is "model.pt"
};

// `path`: below the folder that the user names. The innermost rank and step count.
[[nodiscard]] CheckpointPath parse_checkpoint_path(std::string_view path);

// True for NAME-EPOCH_STEP.ckpt.
[[nodiscard]] bool names_epoch(std::string_view path);

// The checkpoint that an array of convert's is a parameter of: "net-1_10.ckpt" of "net-1_10.ckpt.fc.weight.4x4.npy". Empty for
// other names.
[[nodiscard]] std::string_view checkpoint_of_array(std::string_view file_name);

}  // namespace msdump
