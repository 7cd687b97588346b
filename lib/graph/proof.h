// Does the value that went into an operator equal the one its producer wrote? What proves, or disproves, that files belong
// to the operators they were joined to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dump/dump_index.h"
#include "dump/tensor_list.h"
#include "graph/data_flow.h"
#include "graph/file_join.h"

namespace msdump {

enum class Agreement : uint8_t { kEqual, kDifferent, kUnknown };

// Compares the elements of two tensors of a dump: the first and the last MiB of large ones. Other dimensions with as many
// elements of the same dtype are no difference: a reshape costs nothing and has no kernel.
[[nodiscard]] Agreement compare_elements(const DumpIndex& index, const TensorRecord& a, const TensorRecord& b);

// One edge between two operators that both have tensors: input `slot` of `consumer` is output `output` of `producer`.
struct ProofEdge {
  OpId consumer = 0, producer = 0;
  uint32_t slot = 0, output = 0;
  uint32_t input_tensor = 0, output_tensor = 0;  // indices of tensors, of the same step and occurrence
};
// Of one operator; those of its inputs that come from an operator with tensors.
[[nodiscard]] std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                                 const OpGraph& graph, const FileJoin& join, OpId consumer);

}  // namespace msdump
