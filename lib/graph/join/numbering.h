// Which numbers operators have in the names of the files: those of the graph, or new ones (graph/join/renumber.h)? Known for
// MindSpore up to 2.2 (the graph's) and from 2.7 on (new); between them, and as a check, the bytes decide: under the
// right hypothesis the inputs of operators are the outputs of their producers.
// Source: reference/verified-on-real-mindspore.md 1.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/join/file_join.h"
#include "io/cancel.h"
#include "io/worker_pool.h"

namespace msdump {

struct NumberingChoice {
  bool renumbered = false;
  double confidence = 1;
  std::string
      evidence;  // for people: "41 of 41 inputs equal their producer's output (0 of 41 with the graph's numbers)"
  uint64_t agreeing = 0, contradicting = 0;  // edges that tell the hypotheses apart, under the one that was chosen
};

struct Joined {
  NumberingChoice numbering;
  FileJoin join;
  std::vector<Error> failures = {};  // of files that a proof could not read
};

struct JoinContext {
  WorkerPool& pool;
  const CancelToken& cancel;
};

// Joins the tensors to the graph under the hypothesis that the bytes, else the version of the framework, speak for. An
// error only when interrupted.
Result<Joined> join_files(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph,
                          const JoinContext& context);

}  // namespace msdump
