// The operators of one side of a comparison, in their order, whatever tells about them: a graph with its files, or the names of the
// tensors alone; and what they are recognised by on the other side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/join/file_join.h"
#include "graph/op_graph.h"

namespace msdump {

inline constexpr uint32_t kNoOperator = UINT32_MAX;

// One side: a dump, and what tells about its operators, if anything does.
struct CompareSide {
  const DumpIndex* index = nullptr;
  const std::vector<TensorRecord>* tensors = nullptr;
  const OpGraph* graph = nullptr;  // with `join`
  const FileJoin* join = nullptr;
};

// Does the graph say what flows where? IR does, msprobe's stack.json does not.
[[nodiscard]] bool has_flow(const CompareSide& side);

struct SequencedOp {
  std::optional<int64_t> rank, graph;
  OpId op = kNoIndex;  // in the graph; kNoIndex: only the files tell of it
  std::string name;    // full name where it is known, else the files'
  std::string_view type;
  std::vector<uint32_t> tensors;  // indices, all steps and slots
};

// Operators of an IR in its order, behind them those that it does not know; where there is no IR all in the order of their
// first tensor. Operators without tensors are in it where an IR tells of them: they keep the others in place.
[[nodiscard]] std::vector<SequencedOp> operators_of(const CompareSide& side);

// Keys for `align`, the surest level first: the operator and its shapes with two circles of neighbours, with one, its type
// and scope, the name it has in both frameworks, its type. Numbers of operators and graphs are in none.
[[nodiscard]] std::vector<std::vector<uint64_t>> alignment_keys(const CompareSide& side,
                                                                const std::vector<SequencedOp>& operators);

// "Default/conv1-Conv2d/Conv2D" of "Default/conv1-Conv2d/Conv2D-op12"; calls of msprobe lose their counter.
[[nodiscard]] std::string name_without_numbers(std::string_view name);

}  // namespace msdump
