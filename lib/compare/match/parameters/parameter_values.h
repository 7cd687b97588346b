// ParameterValues: some values of each parameter of a checkpoint, to recognise it by: at kPoints places spread over it,
// whatever its size. 512 bytes a parameter, at most 32 MiB: those that were not asked for lately are read again.
//
// value_distance: how far two lists of values are from each other, in standard deviations of the second: 0 for equal
// ones, some 0.004 for a copy in bfloat16, 0.1 after training, about 1.4 for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compare/match/read_failures.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "dump/index/tensor_view.h"

namespace msdump {

inline constexpr size_t kPoints = 64, kFirstPoints = 16;
inline constexpr size_t kMostKnown = size_t{1} << 16;  // parameters whose values are kept
// Up to this distance two tensors are the same parameter.
inline constexpr double kNear = 0.5;

class ParameterValues {
 public:
  ParameterValues(const DumpIndex& index, const std::vector<TensorRecord>& tensors)
      : index_(index), tensors_(tensors) {}

  // Empty if it cannot be read, or has no order. Valid until at least kMostKnown / 2 other tensors have been asked for.
  std::span<const double> of(uint32_t tensor);
  // The same points of a view of it; `most` of them. Empty also for a tensor whose elements change places.
  std::vector<double> of(uint32_t tensor, const TensorView& view, size_t most = kPoints);

  // Files that could not be read.
  [[nodiscard]] ReadFailures& failures() { return failures_; }

 private:
  HostTensor* opened(uint32_t tensor);
  std::vector<double> read(HostTensor& tensor, const TensorView* view, size_t most);

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  ReadFailures failures_;
  std::unordered_map<uint32_t, std::vector<double>> known_,
      older_;  // by tensor; the latter were asked for before the former
  std::optional<HostTensor> last_;
  uint32_t last_tensor_ = UINT32_MAX;
};

// Nothing where values prove nothing: too few, or both constant. Infinite where one is constant.
[[nodiscard]] std::optional<double> value_distance(std::span<const double> a, std::span<const double> b);
// value_distance up to kNear; for few values much nearer.
[[nodiscard]] bool is_near(double distance, size_t values);
// One value throughout, on both sides the same.
[[nodiscard]] bool is_same_constant(std::span<const double> a, std::span<const double> b);

}  // namespace msdump
