// A stream: elements of one tensor on their way through the kernels. Internal to lib/stats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "kernels/digest/md5.h"
#include "kernels/reduce/reduce.h"
#include "stats/compute.h"

namespace msdump::stats {

// How one tensor is analysed.
struct Analysis {
  DType dtype = DType::kUndefined;  // of the elements as read
  size_t element_bytes = 1;
  int64_t elements = 0;  // in the tensor
  uint64_t count = 0;    // the value of the column, which may differ from `elements`
  int64_t analysed = 0;  // number of elements that are analysed
  Chunks chunks;
  bool reducible = true;
  bool reduced = true;     // anything but digests is wanted
  bool halve = false;      // digests are taken of the upper half of each float32: it holds a bfloat16
  bool widen = false;      // digests are taken of bfloat16 widened to float32
  uint64_t md5_bytes = 0;  // of the analysed bytes, those MD5 covers
};

// By the dialect, or by what the options ask for instead.
[[nodiscard]] kernels::ReduceRule reduce_rule_of(const ComputeOptions& options);
// The rule for mean_abs.
[[nodiscard]] kernels::ReduceRule mean_abs_rule();

// What a whole tensor needs to become a TensorStatistics.
struct TensorState {
  Analysis analysis;
  TensorStatistics result;
  std::vector<kernels::ChunkStatistics> chunks;
  std::optional<kernels::CodeRule> code_rule;
  std::vector<kernels::CodeCounts> codes;          // by chunk: of the stream that begins with it
  std::vector<kernels::ChunkStatistics> mean_abs;  // by chunk, of magnitudes; empty when not wanted
  kernels::Md5State md5;
  std::string sha1_text;  // hexadecimal digests of the slices so far
};

// Decides how a tensor is analysed.
[[nodiscard]] TensorState start_tensor(const HostTensor& tensor, const ComputeItem& item,
                                       const ComputeOptions& options);
// Merges the results of the streams of a tensor.
[[nodiscard]] Result<TensorStatistics> finish_tensor(TensorState& state, const ComputeOptions& options);

// Chunks [first_chunk, last_chunk) of a tensor. `buffer` is lent to it, so that consecutive streams share one.
class Stream {
 public:
  Stream(HostTensor& tensor, TensorState& state, int64_t first_chunk, int64_t last_chunk, const Wanted& wanted,
         std::vector<std::byte>& buffer);

  [[nodiscard]] bool done() const { return next_ >= end_; }
  // Reads the next slab, of about this many bytes.
  Status read(int64_t slab_bytes);
  // The kernels' jobs for the slab that was read. They hold pointers into the stream.
  void add_lanes(std::vector<kernels::ReduceLane>& lanes);
  void add_mean_abs_lanes(std::vector<kernels::ReduceLane>& lanes);
  void add_digests(std::vector<kernels::Md5Job>& jobs);
  [[nodiscard]] uint64_t slab_bytes() const { return static_cast<uint64_t>(slab_) * state_->analysis.element_bytes; }

 private:
  void add_sha1(const std::byte* data, size_t element_bytes);
  void count_codes();
  void add_lanes_of(const std::byte* slab, std::vector<kernels::ChunkStatistics>& states,
                    std::vector<kernels::ReduceLane>& lanes) const;

  HostTensor* tensor_;
  TensorState* state_;
  Wanted wanted_;
  std::vector<std::byte>* buffer_;
  std::vector<std::byte> digested_;    // the slab as digests see it, where that is not what was read
  std::vector<std::byte> magnitudes_;  // the slab without signs, for mean_abs
  int64_t first_chunk_ = 0;
  int64_t end_ = 0, next_ = 0;         // elements
  int64_t slab_begin_ = 0, slab_ = 0;  // elements
};

}  // namespace msdump::stats
