// Joins a graph to the files of a dump by the numbers of its operators. In file names these are those of the graph, or new
// ones.
//
// MindSpore 2.7 and later writes graphs/*.ir and *.pb beside a dump before it renumbers the kernels of all graphs. It
// visits the graphs in ascending id, and in each every node that has a name, virtual ones too, in the order of the IR. One
// counter for each text before "-op" serves the entire process. All graphs of the process must be there.
//
// Up to 2.2 the numbers are the graph's, from 2.7 on they are new. In between, and as a check, tensor values decide: under
// the right hypothesis the inputs of operators equal the outputs of their producers.
// Source: dumps of MindSpore 1.3 to 2.10, checked by the bytes along the data flow.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/flow/data_flow.h"
#include "graph/join/file_join.h"
#include "graph/op_graph.h"
#include "io/run_context.h"

namespace msdump {

// The new number of each operator; kNoIndex if the name stays as it is (no number in it, or not OriginPlace::kDump).
// Processes are distinguished by their rank and by the folder of their IR.
[[nodiscard]] std::vector<uint32_t> renumbered(const OpGraph& graph);

// Whether an input equals the output of its producer. Equal bytes prove that the files belong to the operators that they
// were joined to; different bytes disprove it.
enum class Agreement : uint8_t { kEqual, kDifferent, kUnknown };

// Compares tensors of one dump. With elements: the first and the last MiB of them. Other dimensions with as many
// elements of the same dtype are not a difference, as a reshape has no kernel. Without elements: the texts of their
// rows in statistic.csv. Thread-safe.
class ValueComparer {
 public:
  ValueComparer(const DumpIndex& index, const std::vector<TensorRecord>& tensors);
  ValueComparer(const ValueComparer&) = delete;
  ValueComparer& operator=(const ValueComparer&) = delete;
  ~ValueComparer();

  [[nodiscard]] Agreement compare(RecordId a, RecordId b) const;

  // Files that could not be read, each once, by path.
  [[nodiscard]] std::vector<Error> failures() const;

 private:
  class Rows;
  [[nodiscard]] Agreement compare_elements(const TensorRecord& a, const TensorRecord& b) const;
  [[nodiscard]] Agreement unread(Error error, const TensorRecord& tensor) const;

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  std::unique_ptr<Rows> rows_;  // of tables, read when the first is asked for
  mutable std::mutex mutex_;
  mutable std::map<std::string, Error> failures_;
};

// An edge between two operators that both have tensors: input `slot` of `consumer` is output `output` of `producer`.
struct ProofEdge {
  OpId consumer, producer;
  uint32_t slot = 0, output = 0;
  RecordId input_tensor, output_tensor;  // of the same step and occurrence
};
// Edges into one operator from operators with tensors.
[[nodiscard]] std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                                 const OpGraph& graph, const FileJoin& join, OpId consumer);
// The same if inputs_of() is known.
[[nodiscard]] std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                                 const std::vector<InputEdge>& inputs, const FileJoin& join,
                                                 OpId consumer);

// Counts of comparisons; those without a result are not counted.
struct ProofTally {
  uint64_t agreeing = 0, contradicting = 0;

  void count(Agreement agreement);
  [[nodiscard]] uint64_t all() const { return agreeing + contradicting; }
  [[nodiscard]] double share() const;  // that agrees; 0 when there is nothing
};
// The confidence that files belong to an operator, after a proof was tried: certain if all agree, low if more
// contradict than agree.
[[nodiscard]] double proved_confidence(double confidence, const ProofTally& tally);

struct Joined {
  FileJoin join;
  std::vector<Error> failures = {};  // of files that a proof could not read
};

// Joins the tensors to the graph under the hypothesis that the tensor values support, else the version of the framework.
// An error only when interrupted.
Result<Joined> join_files(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph,
                          const RunContext& context);

}  // namespace msdump
