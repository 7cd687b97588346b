// Identities: what the statistics of an operator's inputs say about those of its output, where a dump has no elements.
//
// A copy keeps all four numbers, a monotone map the largest and smallest, a sum the mean. An identity that fails proves a wrong
// output; one that holds proves nothing, because other elements may have the same numbers.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "recompute/question.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::recompute {

// Numbers of a tensor whose elements are all finite.
struct TensorStatistics {
  DType dtype = DType::kUndefined;
  std::optional<double> max, min, mean, norm;
  std::optional<double> elements;
  const Shape* shape = nullptr;  // null: unknown
};

struct Identity {
  TensorId output;
  std::string_view kernel;
  std::string_view statistic;  // "max"
  double value = 0, expected = 0;
  double units = 0;  // the distance in units of what rounding and printing can do

  [[nodiscard]] bool is_broken() const { return units > 1; }
};

// None if the tensor has no statistics, or is not finite.
using ReadStatistics = std::function<std::optional<TensorStatistics>(TensorId tensor)>;

// The identity that is off most; none if there is none for this operator.
[[nodiscard]] std::optional<Identity> worst_identity(const Question& question, const ReadStatistics& read);

// Leaves out those of kernels that often break theirs: the device computes them with fewer bits than their dtype says.
[[nodiscard]] std::vector<Identity> broken_alone(const std::vector<Identity>& identities);

}  // namespace msdump::recompute
