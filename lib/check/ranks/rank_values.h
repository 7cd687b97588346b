// The values of tensors of several ranks, side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"
#include "kernels/pair/pair.h"

namespace msdump::check {

// Compares facts: true if two tensors have the same elements, false if some differ, no value if that is undetermined.
[[nodiscard]] std::optional<bool> are_equal(const TensorFacts& a, const TensorFacts& b);

// True if equal values prove that two tensors are the same. Constants, two-valued tensors (zeros, ones, masks), few
// elements and integers are equal by chance.
[[nodiscard]] bool is_telling(const TensorFacts& facts);

// Unit roundoff of a dtype; no value for integers and types without one.
[[nodiscard]] std::optional<double> rounding_of(DType dtype);

// Elements [first, first + into.size()) of a tensor as doubles. kUnsupportedDtype for what is not a number.
Status read_numbers(const CheckedDump& dump, TensorId tensor, int64_t first, std::span<double> into);

// All elements of two tensors; an error if one cannot be read or they cannot be compared.
Result<kernels::PairMetrics> compare_elements(const CheckedDump& dump, TensorId a, TensorId b,
                                              const CancelToken& cancel);
// True if both tensors may come from the same computation in another order.
[[nodiscard]] bool differ_by_rounding(const kernels::PairMetrics& metrics, const TensorFacts& facts);

// "rank 2", "ranks 0-3, 6"; of many ranges the first.
[[nodiscard]] std::string ranks_text(std::vector<int64_t> ranks);

}  // namespace msdump::check
