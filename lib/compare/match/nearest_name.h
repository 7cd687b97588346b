// Which operator of the other side one without a partner may have been: by the distance of their names (edit_distance of
// base/text.h), '/', '\', '.' and blanks being '_'.
//
// A distance is computed 64 cells at a time (H. Hyyro, A bit-vector algorithm for computing Levenshtein and Damerau edit
// distances, 2003) and of what is between the beginning and the end that two names share: some 0.1 ms for a name beside
// 2000 others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/pairing.h"
#include "io/worker_pool.h"

namespace msdump {

class NearestNames {
 public:
  // Of the first operators of a side; later ones have names like these.
  explicit NearestNames(const std::vector<SequencedOp>& operators);

  // The operator whose name is nearest, if no more than a third of `name` is different; of equally near ones the first.
  // kNoOperator when none is near. Thread-safe.
  [[nodiscard]] uint32_t nearest(std::string_view name) const;

 private:
  std::vector<std::string> names_;  // normalised, lower case
};

// By Pairing::operators: of those without a partner the operator of the other side with the nearest name, else
// kNoOperator. Looked for from the first operators of each side that are alone: where thousands are, the two are no runs
// of one network, and a name tells nothing.
[[nodiscard]] std::vector<uint32_t> nearest_names(const Pairing& pairing, WorkerPool& pool);

}  // namespace msdump
