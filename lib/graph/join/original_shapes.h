// OriginalShapes: the host shapes of tensors in device format whose files have none: .npy files of "trans_flag": false,
// and dump files without an original shape.
//
//   statistic.csv   the shape in the tensor's row, unless the writer put the shape of the device array there
//   the IR          the host type of that input or output of the operator
//   a graph of GE   origin_shape, with origin_format
// The operator of a file may be uncertain (renumbered operators, names cut off). Its shape then counts only if all
// operators of the type with this device shape have it. make_plan() decides whether a shape fits.
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
  std::optional<Shape> device;   // the device shape of the same tensor; none: unknown
  std::optional<Format> format;  // the order of its axes, if known
  std::string_view source;       // "statistic.csv", "the IR", "the graph of GE"
  bool operator==(const OriginalShape&) const = default;
};

class OriginalShapes {
 public:
  OriginalShapes() = default;
  // Adds the shapes in rows of tables. The list must have been read with Headers::kWhereNeeded, so that shapes of .npy
  // files are those of rows.
  void add_tables(const std::vector<TensorRecord>& tensors);
  // Shapes on which several operators or graphs disagree do not count.
  void add_graph(const std::vector<TensorRecord>& tensors, const OpGraph& graph, const FileJoin& join);

  // The possible shapes of a tensor of DumpIndex::files(), those of tables first.
  [[nodiscard]] std::vector<OriginalShape> of(FileId file, uint32_t item) const;
  [[nodiscard]] bool empty() const { return tables_.empty() && graph_.empty(); }

 private:
  using Place = std::pair<FileId, uint32_t>;  // and the item
  std::map<Place, OriginalShape> tables_;
  std::map<Place, std::optional<OriginalShape>> graph_;  // no value: contradicting
};

}  // namespace msdump
