// The runs that one side of a comparison alone has, by where they stand: what the search for roots asks between an input
// and what wrote it, for each input that changed on the way.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "divergence/run_view.h"

namespace msdump {

class OneSidedRuns {
 public:
  explicit OneSidedRuns(const RunView& view);

  // Of the runs in [first, end) that one side alone has, the one to name: the candidate's first that turns to a coarser
  // dtype, else its last, else the reference's last; kNoRun where there is none. Only those that belong to the backward
  // pass if `end` does, else only others. A module whose operators have partners does not count.
  [[nodiscard]] uint32_t between(uint32_t first, uint32_t end) const;
  // The first that the candidate alone has, whatever it is.
  [[nodiscard]] uint32_t first_of_candidate(uint32_t first, uint32_t end) const;
  // Does a coarser dtype come out than went in?
  [[nodiscard]] bool turns_coarser(uint32_t run) const;

 private:
  struct Pass {                                 // forward or backward
    std::vector<uint32_t> coarser, of_a, of_b;  // ascending
  };
  [[nodiscard]] bool has_paired_inside(uint32_t run) const;

  const RunView& view_;
  std::array<Pass, 2> passes_;  // forward, backward
  std::vector<uint32_t> all_of_a_;
};

}  // namespace msdump
