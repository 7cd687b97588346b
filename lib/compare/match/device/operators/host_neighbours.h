// HostNeighbours: which operators of the host feed which, by its graph. Without one: the nearest operators that nothing has
// taken and that hold the same values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operators/host_operators.h"
#include "compare/match/op_sequence.h"

namespace msdump {

class HostNeighbours {
 public:
  // The arguments outlive it.
  HostNeighbours(MatchEvidence& evidence, const HostOperators& hosts) : evidence_(evidence), hosts_(hosts) {}

  [[nodiscard]] std::vector<uint32_t> producers_of(uint32_t host);
  // kNoOperator where there are none or several that are not taken.
  [[nodiscard]] uint32_t only_free_consumer(uint32_t host);
  // Operators of these families that are not taken, each of which feeds a later one; empty when there are none. Without
  // a graph, and without values that show it, the nearest before.
  [[nodiscard]] std::vector<uint32_t> chain_that_ends(const std::vector<std::string>& families, uint32_t end);

 private:
  [[nodiscard]] std::vector<uint32_t> consumers_of(uint32_t host);
  [[nodiscard]] bool feeds(uint32_t producer, uint32_t consumer);

  MatchEvidence& evidence_;
  const HostOperators& hosts_;
};

}  // namespace msdump
