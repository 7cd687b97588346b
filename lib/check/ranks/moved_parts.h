// Parts of tensors that ranks exchange without computing with them, byte by byte.
//
//   kGathered   every rank gets what all put in, one after the other
//   kExchanged  each rank's input is cut into a part for each rank; what it gets are the parts for it, one after the other
// Parts are consecutive elements: equal ones, or rows by the sizes that the calls were given.
//
// Cost: of gathered tensors equal outputs are read once. Inputs are kept in memory if all are small together; else a part
// is read when it is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "check/checked_dump.h"
#include "io/cancel.h"

namespace msdump::check {

enum class MovedParts : uint8_t { kGathered, kExchanged };

struct MovingRank {
  uint32_t put = kNone, got = kNone;
  int64_t put_count = 0, got_count = 0;       // elements
  std::vector<int64_t> put_sizes, got_sizes;  // rows; empty: equal parts
  uint64_t got_digest = 0;                    // 0: not known
};

struct WrongPart {
  size_t from = 0, to = 0;  // in the list of ranks
  int64_t element = 0;      // of what `to` got: the first that differs
};

// No value if the parts do not add up or a tensor cannot be read.
[[nodiscard]] std::optional<std::vector<WrongPart>> check_moved_parts(const CheckedDump& dump,
                                                                      const std::vector<MovingRank>& ranks,
                                                                      MovedParts how, const CancelToken& cancel);

}  // namespace msdump::check
