// The runs that only one side of a comparison has, without a known reason, in order. For each input that changed on the
// way, the search for roots looks for such a run between its producer and its reader.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

class OneSidedRuns {
 public:
  explicit OneSidedRuns(const RunView& view);

  // The run to name of those in [first, end) that only one side has: the candidate's first that turns to a coarser
  // dtype, else its last, else the reference's last; kNoRun if there is none. If `end` belongs to the backward pass
  // only its runs count, else others, or else the first that the candidate's backward pass lacks. A module whose
  // operators have partners does not count.
  [[nodiscard]] uint32_t between(uint32_t first, uint32_t end) const;
  // The first that only the candidate has, whatever it is.
  [[nodiscard]] uint32_t first_of_candidate(uint32_t first, uint32_t end) const;
  // The first of the step that a backward pass of the candidate lacks.
  [[nodiscard]] uint32_t first_backward(const RunPlace& place) const;
  // Is the dtype of the outputs coarser than that of the inputs?
  [[nodiscard]] bool turns_coarser(uint32_t run) const;

 private:
  struct Pass {                                 // forward or backward
    std::vector<uint32_t> coarser, of_a, of_b;  // ascending
  };
  [[nodiscard]] bool has_paired_inside(uint32_t run) const;
  [[nodiscard]] uint32_t last_that_computes(const std::vector<uint32_t>& runs, uint32_t first, uint32_t last) const;

  const RunView& view_;
  std::array<Pass, 2> passes_;  // forward, backward
  std::vector<uint32_t> all_of_a_;
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, uint32_t> first_backward_;  // by rank and step
};

}  // namespace msdump
