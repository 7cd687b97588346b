// TensorScan: the statistics of a tensor whose elements are read for something else, so that its bytes are read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/tensor_list.h"
#include "stats/compute.h"
#include "stats/tensor_numbers.h"

namespace msdump::stats {

class TensorScan {
 public:
  // The tensor must outlive it. The options ask for no digests.
  TensorScan(HostTensor& tensor, const TensorRecord& record, const ComputeOptions& options);
  ~TensorScan();

  // The elements from `first` to the end of a slab: of the one that was read last, or of the next one if `first` is its first element.
  // Empty elsewhere. Valid until the next call.
  [[nodiscard]] Result<std::span<const std::byte>> elements(int64_t first);
  // True if all elements were read.
  [[nodiscard]] bool is_complete() const;
  // Of a complete scan, once.
  [[nodiscard]] Result<TensorNumbers> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace msdump::stats
