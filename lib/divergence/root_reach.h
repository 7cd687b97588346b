// Which root each run depends on: the most upstream one whose values reach it along the edges. A root of a parameter or
// an input reaches all that read the value.
//
// Cost: linear in the runs and edges, however many roots there are.
#pragma once

#include <cstdint>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

struct Divergence;

inline constexpr uint32_t kNoRoot = UINT32_MAX;

class RootReach {
 public:
  RootReach(const RunView& view, const std::vector<Divergence>& roots);

  // The root that a run is an instance of, itself or at a further place; kNoRoot for none.
  [[nodiscard]] uint32_t root_at(uint32_t run) const { return root_at_[run]; }
  // The first root that a run depends on, or is.
  [[nodiscard]] uint32_t root_before(uint32_t run) const { return root_before_[run]; }

 private:
  std::vector<uint32_t> root_at_, root_before_;  // by run
};

}  // namespace msdump
