// The value of an argument of an operator as numbers: from the literal of a graph ("F32(1e-05)", "(I64(1), I64(2))", "true") or
// from a small tensor; and whether two values say the same.
//
// Two are known to differ only where nothing else can explain it. An axis counts from the front or the back, a list of axes
// may have any order, a size may be left to the framework (-1), the device may order sizes in another way: then nothing is
// known.
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
  std::vector<double> numbers;  // of a list within a list, too
  bool is_list = false;
  bool is_whole = true;       // written as an integer or a boolean
  bool is_flag = false;       // written as a boolean
  double rtol = 0, atol = 0;  // the rounding of the text or of the dtype

  // "1e-05", "(1, 2)".
  [[nodiscard]] std::string text() const;
};

// No value for a text, a dtype, a tensor and anything else that is not numbers, and for a long list.
[[nodiscard]] std::optional<ArgumentValue> parse_argument(std::string_view literal);
// The value of the elements of a tensor.
[[nodiscard]] ArgumentValue argument_of(std::vector<double> elements, DType dtype, bool is_list);

enum class ArgumentMatch : uint8_t { kUnknown, kEqual, kDiffer };

struct ArgumentFacts {
  ge::ArgumentKind kind = ge::ArgumentKind::kNumber;
  bool same_axes = false;       // both sides have the same axes in the same order
  std::optional<int64_t> rank;  // of what an axis counts in
};
[[nodiscard]] ArgumentMatch match_arguments(const ArgumentValue& a, const ArgumentValue& b, const ArgumentFacts& facts);

}  // namespace msdump
