// The operators of one dump in their order, named by a graph that is joined to the files, or by the files alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/compact.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/join/file_join.h"
#include "graph/op_graph.h"

namespace msdump {

class CodeLines;

struct SequencedOp;

// A dump and, if there is one, the graph of its operators. Pointers only: the objects must outlive this.
struct DumpWithGraph {
  const DumpIndex* index = nullptr;
  const std::vector<TensorRecord>* tensors = nullptr;
  const OpGraph* graph = nullptr;  // with `join`
  const FileJoin* join = nullptr;
  const std::vector<CallArgument>* arguments = nullptr;  // of the calls; may be null
  const std::vector<SequencedOp>* operators = nullptr;   // if they are known already
  const std::vector<CallOverflow>* overflows = nullptr;  // of the calls; may be null
  const CodeLines* code = nullptr;                       // of the graph; may be null
};

// True if the graph has the data flow. An IR has it, msprobe's stack.json does not.
[[nodiscard]] bool has_flow(const DumpWithGraph& dump);

struct SequencedOp {
  CompactOptional<int64_t> rank, graph;
  CompactOptional<int64_t> step;  // if each step has operators of its own
  uint32_t dump = 0;              // in DumpIndex::dumps(); of two dumps that are compared, in Pairing::dumps
  OpId op;                        // kNoId: only the files name it
  SharedText name;                // the full name if it is known, else the files'
  std::string_view type;
  std::vector<RecordId> tensors;  // all steps and slots
};

using SequencedOpId = Index<SequencedOp>;  // in operators_of()

// The operators of the IR in its order, including those without tensors, then the operators that only files name.
// Without an IR all operators in the order of their first tensor.
[[nodiscard]] std::vector<SequencedOp> operators_of(const DumpWithGraph& dump);

// The operators as the files name them, in the order of their first tensor. `op` is the best match in the graph.
[[nodiscard]] std::vector<SequencedOp> operators_by_file(const DumpWithGraph& dump);

// Tensors whose files have another dtype than their bytes. If the network says float16 and the kernel computes float32,
// MindSpore's CPU backend stores the first half of the float32 buffer as float16.
// Source: dumps of MindSpore 2.x on a CPU.
//
// True for each tensor that the graph calls float16 for the network and float32 on the device. A file that says float16
// then has half of the buffer. All false without a graph.
[[nodiscard]] std::vector<bool> float32_on_device(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

}  // namespace msdump
