// Decides which numbers operators have in file names: those of the graph, or new ones (graph/join/renumber.h). It is known
// for MindSpore up to 2.2 (the graph's) and from 2.7 on (new). In between, and as a check, the tensor values decide: under
// the right hypothesis the inputs of operators equal the outputs of their producers.
// Source: reference/verified-on-real-mindspore.md 1.1.
#pragma once

#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/join/file_join.h"
#include "io/run_context.h"

namespace msdump {

struct Joined {
  FileJoin join;
  std::vector<Error> failures = {};  // of files that a proof could not read
};

// Joins the tensors to the graph under the hypothesis that the tensor values support, else the version of the framework.
// An error only when interrupted.
Result<Joined> join_files(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph,
                          const RunContext& context);

}  // namespace msdump
