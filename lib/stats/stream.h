// A stream of statistics: the elements of a tensor, or of some of its chunks, slab by slab. Internal to lib/stats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "kernels/digest/digest.h"
#include "kernels/reduce/reduce.h"
#include "stats/compute.h"
#include "stats/dialect.h"
#include "stats/tensor_numbers.h"
#include "tensor/dtype.h"

namespace msdump::stats {

// The plan for one tensor.
struct Analysis {
  DType dtype = DType::kUndefined;  // of the elements as read
  size_t element_bytes = 1;
  int64_t elements = 0;  // in the tensor
  uint64_t count = 0;    // the value of the column Count, which may differ from `elements`
  int64_t analysed = 0;  // number of elements that enter the statistics
  Chunks chunks;
  bool reducible = true;
  bool reduced = true;     // more than digests is wanted
  bool halve = false;      // digests are taken of the upper half of each float32, which is a bfloat16
  bool widen = false;      // digests are taken of bfloat16 widened to float32
  uint64_t md5_bytes = 0;  // number of bytes that MD5 covers
};

// The results of a tensor's chunks, until they are merged.
struct TensorState {
  Analysis analysis;
  TensorNumbers result;
  std::vector<kernels::ChunkStatistics> chunks;
  std::optional<kernels::CodeRule> code_rule;
  std::vector<kernels::CodeCounts> codes;          // by chunk: counts of the stream that begins with it
  std::vector<kernels::ChunkStatistics> mean_abs;  // by chunk: statistics of magnitudes; empty if not wanted
  kernels::Md5State md5;
  std::string sha1_text;  // hexadecimal digests of the slices so far
};

// Chunks [first_chunk, last_chunk) of a tensor. `buffer` is lent to it, so that consecutive streams share one.
class Stream {
 public:
  Stream(HostTensor& tensor, TensorState& state, int64_t first_chunk, int64_t last_chunk, const Wanted& wanted,
         std::vector<std::byte>& buffer);

  [[nodiscard]] bool done() const { return next_ >= end_; }
  [[nodiscard]] int64_t next() const { return next_; }  // the first element that was not read
  // Reads the next slab, of about this many bytes.
  Status read(int64_t slab_bytes);
  // Adds the kernels' jobs for the slab that was read; these hold pointers into the stream.
  void add_lanes(std::vector<kernels::ReduceLane>& lanes);
  void add_mean_abs_lanes(std::vector<kernels::ReduceLane>& lanes);
  void add_digests(std::vector<kernels::Md5Job>& jobs);
  // Elements of the slab that was read, from this one on; empty if it is not in the slab.
  [[nodiscard]] std::span<const std::byte> elements_from(int64_t element) const;
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
  std::vector<std::byte> digested_;    // the slab for digests, if they are of other bytes
  std::vector<std::byte> magnitudes_;  // the slab without signs, for mean_abs
  int64_t first_chunk_ = 0;
  int64_t end_ = 0, next_ = 0;         // elements
  int64_t slab_begin_ = 0, slab_ = 0;  // elements
};

// Exact numbers are those of the newest dialect.
[[nodiscard]] ComputeOptions with_dialect_in_use(ComputeOptions options);
// The rule of the dialect, or of the options that replace it.
[[nodiscard]] kernels::ReduceRule reduce_rule_of(const ComputeOptions& options);
// The rule for mean_abs.
[[nodiscard]] kernels::ReduceRule mean_abs_rule();

// Decides how a tensor is analysed.
[[nodiscard]] TensorState start_tensor(const HostTensor& tensor, const ComputeItem& item,
                                       const ComputeOptions& options);
// Merges the results of the streams of a tensor, if its file did not change.
[[nodiscard]] Result<TensorNumbers> finish_tensor(const HostTensor& tensor, TensorState& state,
                                                  const ComputeOptions& options);

}  // namespace msdump::stats
