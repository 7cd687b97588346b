// OpGraph: the operators of a training run, from any source: IR text and protobuf of every graph of every process,
// graphs of GE, or msprobe's stack.json. Everything that follows the data flow uses this one model.
//
// An operator is a node of an IrGraph. OpGraph adds the graphs and their files. It also numbers operators: which number
// an operator has in the names of dump files follows only from all graphs of a process together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "base/index.h"
#include "ir/model/ir_graph.h"

namespace msdump {

enum class OriginKind : uint8_t { kIrText, kIrProtobuf, kStackJson, kGeGraph };

// The place of a graph's file decides which numbers its operators have.
enum class OriginPlace : uint8_t {
  kDump,   // graphs/ms_output_trace_code_graph_G, written by the dump before MindSpore 2.7 renumbers operators
  kSaved,  // of save_graphs after that, or any other file
};

// A file that describes operators, and the facts about it.
struct GraphFile {
  std::string path;
  OriginKind kind = OriginKind::kIrText;
  OriginPlace place = OriginPlace::kSaved;
  std::optional<int64_t> rank = {};
  std::optional<int64_t> graph_id = {};  // of the folder with the graph's files, which is that of its root
  std::optional<int64_t> step = {};      // of stack.json, which msprobe writes for each step
};

using OpId = Index<class OpGraph>;  // an operator of the graph, in the order of origins and their nodes

struct Origin : GraphFile {
  // The folder of one process that its IR or stack.json lies in, as a whole path; empty if the file lies elsewhere.
  // Each of several dumps has operators of its own.
  std::string home;
  std::optional<int64_t> number;  // of the graph itself
  IrGraph graph;
  // The .pb beside an IR text. The two may name different lines for gradients, and neither is always right.
  std::unique_ptr<IrGraph> second;
  std::vector<uint32_t> second_node;  // by node of `graph`: the node of that name in `second`, or kNoIndex
  OpId first_operator;                // the operators of a graph are its nodes, in the order of the file
  std::vector<uint32_t> wide_tuples;  // nodes, ascending: tuples that data_flow.h does not unfold
};

class OpGraph {
 public:
  OpGraph() = default;
  // Sorted by rank and graph id, then as the graphs are numbered.
  explicit OpGraph(std::vector<Origin> origins);

  [[nodiscard]] const std::vector<Origin>& origins() const { return origins_; }
  [[nodiscard]] size_t size() const { return size_; }

  [[nodiscard]] uint32_t origin_index(OpId op) const;
  [[nodiscard]] const Origin& origin(OpId op) const { return origins_[origin_index(op)]; }
  [[nodiscard]] const IrGraph& ir(OpId op) const { return origin(op).graph; }
  [[nodiscard]] const IrNode& node(OpId op) const;
  [[nodiscard]] OpId id(uint32_t origin, uint32_t node) const { return OpId(origins_[origin].first_operator + node); }

  // "Default/conv1-Conv2d/Conv2D-op12", as the IR spells it; empty when it has none.
  [[nodiscard]] std::string full_name(OpId op) const { return ir(op).full_name(node(op)); }
  [[nodiscard]] std::string_view leaf(OpId op) const { return ir(op).text(node(op).leaf); }
  [[nodiscard]] std::string_view scope(OpId op) const { return ir(op).scope(node(op)); }
  [[nodiscard]] std::string_view op_type(OpId op) const { return ir(op).op_type(node(op)); }
  [[nodiscard]] bool has_kernel(OpId op) const { return node(op).kind == IrNodeKind::kKernel; }

 private:
  std::vector<Origin> origins_;
  size_t size_ = 0;
};

// Operator names as keys: '/', '\', '.' and blanks count as '_'. The name of an operator is its scope, its leaf and
// perhaps another number, concatenated. A join has a million names on each side, so nothing here allocates per name.

// Holds one normalised name at a time; views are valid until the next assign().
class NormalName {
 public:
  NormalName() = default;
  explicit NormalName(std::string_view name) { assign(name); }

  void assign(std::string_view name);
  // The name of an operator in files. `number` replaces the operator's own unless it is kNoIndex.
  void assign(const OpGraph& graph, OpId op, uint32_t number);

  [[nodiscard]] std::string_view full() const { return text_; }
  [[nodiscard]] std::string_view leaf() const { return full().substr(leaf_begin_); }

 private:
  std::string text_;
  size_t leaf_begin_ = 0;
};

// True for the name or scope of a gradient: MindSpore's begin with "Gradients".
[[nodiscard]] inline bool is_gradient_name(std::string_view name) { return name.starts_with("Gradients"); }

// The hash of a normalised name.
[[nodiscard]] inline uint64_t name_hash(std::string_view normal) { return text_hash(normal); }
// True if `written` normalises to `normal`.
[[nodiscard]] bool is_name(std::string_view normal, std::string_view written);
[[nodiscard]] bool same_name(std::string_view written, std::string_view other);

}  // namespace msdump
