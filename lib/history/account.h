// account_of(): since when a comparison fails, and which layer's error moved first.
//
//   red since    the first night of those in a row that failed. Nights without a judgement neither begin nor end them
//   moved        a layer whose error is at least twice what it was: some night every green night up to it, and the last night
//                before the error grew, had at most half of tonight's error. Its first night is the one after these. The
//                layer that moved first is the one with the earliest such night; of several the first along the data flow.
//                Rounding moves, too. So before three green nights are known the error must be ten times what it was, and
//                layers with less than a fiftieth of tonight's largest error do not count
//   accepted     a layer has not moved if more than half of tonight's error was accepted (--baseline), tonight or in a green
//                night
// So a slow drift is dated by when the error doubled, and a change that somebody accepted moves nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "history/night.h"

namespace msdump::history {

struct Movement {
  std::string scope;
  size_t night = 0;              // in the history: the first with the larger error
  double error = 0, before = 0;  // tonight's, and the largest of a green night before
};

struct Account {
  size_t nights = 0, green = 0, red = 0;  // of all; the others were not judged
  size_t in_a_row = 0;                    // nights with the outcome of the last one that was judged
  std::optional<size_t> since;            // the first of them
  std::optional<size_t> root_before;      // of these red nights, the last with another root than tonight's
  std::optional<Movement> moved;
};

// The account of the last night, given all of them in their order.
[[nodiscard]] Account account_of(const std::vector<Night>& nights);

}  // namespace msdump::history
