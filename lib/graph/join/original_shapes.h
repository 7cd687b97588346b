// OriginalShapes: the host shapes of tensors that a dump holds in device format without saying them: .npy files of
// "trans_flag": false, and dump files without an original shape.
//
//   statistic.csv   the shape in the row about the tensor. Writers that put the shape of the array there add nothing: it
//                   is not a host shape, and is not used
//   the IR          the host type of that input or output of the operator
//   a graph of GE   origin_shape, with origin_format
// If it is not sure which operator a file is of (renumbered operators, names cut off), its shape counts only if all operators
// of the type with this device shape have it. Whether a shape fits is for make_plan() to tell.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/index/tensor_list.h"
#include "graph/join/file_join.h"
#include "graph/op_graph.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace msdump {

struct OriginalShape {
  Shape shape;
  std::optional<Shape> device;   // the shape on the device that goes with it; none: not said
  std::optional<Format> format;  // the order of its axes, if that is said
  std::string_view source;       // "statistic.csv", "the IR", "the graph of GE"
  bool operator==(const OriginalShape&) const = default;
};

class OriginalShapes {
 public:
  OriginalShapes() = default;
  // From the rows of tables; the list was read with Headers::kWhereNeeded, so that shapes of .npy files are those of rows.
  void add_tables(const std::vector<TensorRecord>& tensors);
  // Where several operators or graphs disagree about a tensor, none counts.
  void add_graph(const std::vector<TensorRecord>& tensors, const OpGraph& graph, const FileJoin& join);

  // Of a tensor of DumpIndex::files(), tables first.
  [[nodiscard]] std::vector<OriginalShape> of(uint32_t file, uint32_t item) const;
  [[nodiscard]] bool empty() const { return tables_.empty() && graph_.empty(); }

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // file, item
  std::map<Place, OriginalShape> tables_;
  std::map<Place, std::optional<OriginalShape>> graph_;  // no value: contradicting
};

}  // namespace msdump
