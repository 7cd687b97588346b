// The kernels, by file. kernel.cpp joins the lists.
#pragma once

#include <cmath>
#include <span>
#include <utility>

#include "recompute/kernel.h"

namespace msdump::recompute {

[[nodiscard]] std::span<const Kernel> elementwise_kernels();
[[nodiscard]] std::span<const Kernel> move_kernels();
[[nodiscard]] std::span<const Kernel> index_kernels();
[[nodiscard]] std::span<const Kernel> reduction_kernels();
[[nodiscard]] std::span<const Kernel> product_kernels();
[[nodiscard]] std::span<const Kernel> normalisation_kernels();
[[nodiscard]] std::span<const Kernel> softmax_kernels();
[[nodiscard]] std::span<const Kernel> pooling_kernels();
[[nodiscard]] std::span<const Kernel> optimizer_kernels();
[[nodiscard]] std::span<const Kernel> gradient_kernels();

// An output with one answer.
[[nodiscard]] inline Outputs one_output(Array y, std::vector<double> terms = {}, double length = 0) {
  Outputs outputs(1);
  outputs[0].name = "y";
  outputs[0].answers.push_back({std::move(y), std::move(terms), length, {}});
  return outputs;
}
inline void add_output(Outputs& outputs, std::string name, Array y, std::vector<double> terms = {}, double length = 0) {
  Output output;
  output.name = std::move(name);
  output.answers.push_back({std::move(y), std::move(terms), length, {}});
  outputs.push_back(std::move(output));
}

// The result of a helper that fails if shapes do not fit.
template <class T>
[[nodiscard]] Maybe<T> fitted(std::optional<T> value) {
  if (!value) return unjudged(Reason::kShape);
  return std::move(*value);
}

// Kernel::own_axes of kernels that compute each element from those at its place.
[[nodiscard]] inline Maybe<size_t> by_element(const Call& /*call*/) { return size_t{0}; }

// Kernel::common_axes of kernels that work along an axis.
[[nodiscard]] Maybe<size_t> axes_before_axis(const Call& call);

// The axes named by an argument; all if it is not given.
[[nodiscard]] Maybe<ReducedAxes> axes_of(const Call& call, size_t rank);

}  // namespace msdump::recompute
