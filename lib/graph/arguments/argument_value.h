// ArgumentValue: the value of an operator's argument as numbers. It comes from the literal of a graph ("F32(1e-05)",
// "(I64(1), I64(2))", "true") or from a small tensor.
//
// match_arguments() decides kDiffer only if nothing else explains the difference:
//   * an axis may count from the front or from the back
//   * a list of axes may have any order
//   * a size may be left to the framework (-1)
//   * the device may order sizes in another way
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/operators/operator_table.h"
#include "tensor/dtype.h"

namespace msdump {

inline constexpr size_t kMostArgumentElements = 64;

struct ArgumentValue {
  std::vector<double> numbers;  // those of nested lists, too
  bool is_list = false;
  bool is_whole = true;       // every number is written as an integer or a boolean
  bool is_flag = false;       // written as a boolean
  double rtol = 0, atol = 0;  // rounding of the text or of the dtype

  // The value as text: "1e-05", "(1, 2)".
  [[nodiscard]] std::string text() const;
};

// The value in a constant tensor of a graph, "Tensor(shape=[], dtype=Float32, value=0.5)"; any other literal as it is.
[[nodiscard]] std::string_view literal_of(std::string_view constant);
// No value for a text, a dtype, a tensor or anything else that is not numbers, or for a long list.
[[nodiscard]] std::optional<ArgumentValue> parse_argument(std::string_view literal);
// The value of a tensor with these elements.
[[nodiscard]] ArgumentValue argument_of(std::vector<double> elements, DType dtype, bool is_list);

enum class ArgumentMatch : uint8_t { kUnknown, kEqual, kDiffer };

struct ArgumentFacts {
  ge::ArgumentKind kind = ge::ArgumentKind::kNumber;
  bool same_axes = false;       // both sides have the same axes in the same order
  std::optional<int64_t> rank;  // dimensions of the tensor that an axis counts in
};
[[nodiscard]] ArgumentMatch match_arguments(const ArgumentValue& a, const ArgumentValue& b, const ArgumentFacts& facts);

}  // namespace msdump
