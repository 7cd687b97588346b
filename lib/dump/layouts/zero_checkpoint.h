// Whole parameters of a checkpoint of DeepSpeed's ZeRO: the float32 values that the optimizer has, put together from the
// optim_states of all data-parallel ranks (zero_partitions.h), as zero_to_fp32.py does.
//
//   stage 3     each parameter is divided evenly over the ranks, padded at its end; a rank has its parts in the order of
//               param_shapes, in one run of elements over all groups
//   stage 1, 2  the parameters of a group follow each other in one run of elements, which is divided over the ranks; padding of
//               less than two elements a rank is at its end
//   frozen      of stage 3, divided as trained ones, in frozen_param_fragments of the model_states of each rank
//
// The model_states of rank 0 have the parameters, under their names in param_shapes, so that each comes once. Of stage 3 they
// take the place of tensors without elements ("module.NAME"), also of those in the files of other ranks; of stage 1 and 2 they
// are beside those of the model, which has other dtypes. A stage 3 that is not complete is a problem of each parameter, as its
// model has no values; stage 1 and 2 have one problem, and no parameter is added.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/layouts/stored_tensor.h"
#include "torch/pt_file.h"
#include "torch/zero.h"

namespace msdump {

// A file of model_states.
struct ZeroModelFile {
  std::string_view model_rank;  // "00": of model parallelism
  std::optional<int64_t> rank;  // of stage 3
};
[[nodiscard]] std::optional<ZeroModelFile> parse_zero_model_file(std::string_view name);

// The name of the parameter of stage 3 that a tensor without elements stands for.
[[nodiscard]] std::optional<std::string_view> zero3_placeholder_of(const ZeroModelFile& file,
                                                                   const torch::PtTensor& tensor);

struct ZeroParameters {
  std::map<std::string, StoredTensor, std::less<>> by_name;
  // True if the model_states of rank 0 have the parameters of this file.
  bool are_elsewhere = false;
  std::optional<Error> problem;  // why stage 1 or 2 has none
};

// `path`: of the file, which has `shapes`.
[[nodiscard]] ZeroParameters zero_parameters(const std::string& path, const ZeroModelFile& file,
                                             const torch::ZeroShapes& shapes);

}  // namespace msdump
