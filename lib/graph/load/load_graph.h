// Loads the OpGraph of a dump: from IR, from a graph of GE, from msprobe's stack.json, or from what --ir names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "graph/lines/line_search.h"
#include "graph/load/ir_files.h"
#include "graph/op_graph.h"
#include "io/run_context.h"
#include "ir/model/ir_graph.h"
#include "msprobe/stack_json.h"

namespace msdump {

// The operators of msprobe's stack.json as a graph: without edges and types, with their source lines. A backward call
// has no stack of its own; it gets that of its forward call, as a gradient.

Result<IrGraph> graph_of_stacks(const StackJson& stacks, const std::set<std::string_view>& dumped_ops,
                                const std::set<std::string_view>& parameter_gradients = {});

// Reads the files that ir_files.h finds into one OpGraph, several at a time.

struct GraphRequest {
  std::optional<LineQuery>
      only_line;  // from IR text without a .pb beside it, read only operators that may be from there
  // Names of the operators in the dump. stack.json has only forward names, so msprobe's backward calls are added by
  // these. Those of the gradients of parameters are by step, because their counters go on from step to step.
  std::set<std::string_view> dumped_ops;
  std::map<std::optional<int64_t>, std::set<std::string_view>> parameter_gradients;
  void add_dumped(std::optional<int64_t> step, std::string_view op_name);

  std::vector<int64_t> dumped_graphs;  // ids of the folders; an IR that feeds another graph's folder says so in its .pb
};

struct LoadedGraph {
  OpGraph graph;
  std::vector<Error> failures;        // files that could not be read; damaged parts of the others
  std::vector<Error> notes;           // the same for files that nobody named, and that may be from another run
  uint64_t parsed = 0, expected = 0;  // operators
};

// An error only when interrupted.
Result<LoadedGraph> load_graph(const std::vector<IrFile>& files, const GraphRequest& request,
                               const RunContext& context);

}  // namespace msdump
