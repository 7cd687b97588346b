// The operators of one dump in their order, whatever names them: a graph joined to the files, or the names of the tensors alone.
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

inline constexpr uint32_t kNoTensor = UINT32_MAX;  // in a list of tensors

struct SequencedOp;

// A dump, and the graph of its operators where there is one. Handles: what they point to outlives them.
struct DumpWithGraph {
  const DumpIndex* index = nullptr;
  const std::vector<TensorRecord>* tensors = nullptr;
  const OpGraph* graph = nullptr;  // with `join`
  const FileJoin* join = nullptr;
  const std::vector<CallArgument>* arguments = nullptr;  // of the calls; may be null
  const std::vector<SequencedOp>* operators = nullptr;   // where they are known already
  const std::vector<CallOverflow>* overflows = nullptr;  // of the calls; may be null
};

// Does the graph have the data flow? An IR does, msprobe's stack.json does not.
[[nodiscard]] bool has_flow(const DumpWithGraph& dump);

struct SequencedOp {
  std::optional<int64_t> rank, graph;
  std::optional<int64_t> step;  // where each step has operators of its own
  OpId op = kNoIndex;           // in the graph; kNoIndex: only the files name it
  std::string name;             // full name where it is known, else the files'
  std::string_view type;
  std::vector<uint32_t> tensors;  // indices, all steps and slots
};

// With an IR: its operators in its order, also those without tensors, then the operators that only files name. Else all
// in the order of their first tensor.
[[nodiscard]] std::vector<SequencedOp> operators_of(const DumpWithGraph& dump);

// As the files name them, in the order of their first tensor; `op` is the best of the graph where there is one.
[[nodiscard]] std::vector<SequencedOp> operators_by_file(const DumpWithGraph& dump);

// Tensors whose files have another dtype than their bytes: MindSpore's CPU backend stores the first half of a float32
// buffer as float16 where the network says float16 and the kernel computes float32.
// Source: reference/verified-on-real-mindspore.md.

// By tensor: those that the graph says are float16 for the network and float32 on the device. A file that says float16
// has half of the buffer. All false without a graph.
[[nodiscard]] std::vector<bool> float32_on_device(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

}  // namespace msdump
