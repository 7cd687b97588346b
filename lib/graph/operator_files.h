// The tensors of an operator that are selected, best pair first, each once: with headers read, so that dtype and shape
// are known.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "graph/opened_graph.h"

namespace msdump {

struct OperatorFiles {
  std::vector<TensorRecord> tensors;
  std::vector<Shape> shapes;    // that the tensors point to
  std::vector<Error> failures;  // of headers that cannot be read
  double confidence = 1;        // of the best pair
  JoinRule rule = JoinRule::kUnmatched;
};
enum class Detail : uint8_t { kPaths, kHeaders };
[[nodiscard]] OperatorFiles files_of(const OpenedGraph& opened, OpId op, Detail detail);
[[nodiscard]] OperatorFiles files_of_groups(const OpenedGraph& opened, const std::vector<uint32_t>& groups,
                                            Detail detail);

}  // namespace msdump
