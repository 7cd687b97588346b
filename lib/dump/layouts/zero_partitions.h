// The partitions that the data-parallel ranks of DeepSpeed's ZeRO have of the parameters, in the optim_states of all ranks, or of
// frozen ones in their model_states (torch/zero.h). zero_checkpoint.h says how the parameters follow each other in them.
// Limits against hostile input: 16,384 ranks, 4 million partitions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/layouts/stored_tensor.h"
#include "tensor/dtype.h"
#include "torch/zero.h"

namespace msdump {

struct ZeroPartitions {
  // The elements that a rank has of a group.
  struct Partition {
    uint64_t offset = 0;  // in the file
    int64_t count = 0;
  };
  struct Rank {
    std::string path;
    int64_t mtime_ns = 0;
    std::vector<Partition> groups;
  };

  std::vector<Rank> ranks;
  bool of_parameters = false;  // each parameter is divided (stage 3), and not each group
  DType dtype = DType::kUndefined;

  // Stage 3: `each` elements of each rank, from `first` on in the run of its groups; `count` of them all.
  [[nodiscard]] std::vector<StoredShard> ranges_of_parts(int64_t first, int64_t each, int64_t count) const;
  // Stage 1 and 2: elements [first, first + count) of the run of all ranks' partitions of a group.
  [[nodiscard]] std::vector<StoredShard> ranges_of_group(size_t group, int64_t first, int64_t count) const;

 private:
  [[nodiscard]] StoredShard shard(size_t rank, size_t group, int64_t first, int64_t count, int64_t at) const;
};

// The files of a folder that `pattern` matches, by the rank in their names, which must be 0, 1, ..
[[nodiscard]] Result<std::vector<std::string>> files_of_ranks(const std::string& folder, const std::string& pattern);
// By the files of the ranks.
[[nodiscard]] Result<ZeroPartitions> read_optim_states(const std::vector<std::string>& paths);
// The partitions of frozen parameters (frozen_param_fragments), in the order of `shapes`.
[[nodiscard]] Result<ZeroPartitions> read_fragments(const std::vector<std::string>& paths,
                                                    const torch::ZeroShapes::Group& shapes);

}  // namespace msdump
