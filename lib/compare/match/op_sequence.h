// What identifies the operators of one side of a comparison on the other side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/join/dump_operators.h"

namespace msdump {

inline constexpr uint32_t kNoOperator = UINT32_MAX;

// One side of a comparison.
using CompareSide = DumpWithGraph;

// Keys for `align`, the most certain level first: the operator and its shapes with two circles of neighbours, with one,
// its type and scope, its common name in both frameworks, its type. None of them contains numbers of operators or
// graphs.
[[nodiscard]] std::vector<std::vector<uint64_t>> alignment_keys(const CompareSide& side,
                                                                const std::vector<SequencedOp>& operators);

// Type, scope and shapes of outputs of each operator.
[[nodiscard]] std::vector<uint64_t> kinds_of(const CompareSide& side, const std::vector<SequencedOp>& operators);

// A constant that MindSpore numbers, "Parameter.data-12": such a number means nothing in another run.
[[nodiscard]] bool is_numbered_constant(const SequencedOp& one);

// Of msprobe, by the prefixes of modules and calls: a dump of PyTorch. Functions alone do not tell.
[[nodiscard]] bool is_pytorch(const std::vector<SequencedOp>& operators);

// "Default/conv1-Conv2d/Conv2D" of "Default/conv1-Conv2d/Conv2D-op12"; calls of msprobe lose their counter.
[[nodiscard]] std::string name_without_numbers(std::string_view name);

}  // namespace msdump
