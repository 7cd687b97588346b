// PieceContents: which parts of the tensors of one side of a comparison are equal to the bit. What was read is kept by its
// record, some 50 bytes each, so that each part is read once for all steps that ask. Thread-safe; two threads that ask
// about a part at the same time may both read it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "compare/match/read_failures.h"
#include "dump/index/tensor_list.h"
#include "io/cancel.h"

namespace msdump {

class PieceContents {
 public:
  // `index` lists the tensors, and outlives this.
  explicit PieceContents(const DumpIndex& index) : index_(index) {}

  struct Digests {
    std::vector<uint64_t> of_pieces;  // a number for the elements of each; none where one is missing or cannot be read
    // All elements that were looked at, up to 64 of each, are one value: zeros and ones are those of many tensors, and
    // that they are equal proves nothing.
    bool alike = false;
  };
  // Of the pieces of a tensor. An error when interrupted, or where one that could be opened cannot be read to its end.
  Result<Digests> of(std::span<const TensorRecord* const> records, const CancelToken& cancel);
  // Files that could not be read here or elsewhere while this side was matched.
  [[nodiscard]] ReadFailures& failures() { return failures_; }

 private:
  struct Piece {
    uint64_t digest = 0;
    bool empty = false;
    std::optional<double> only;  // the value of those that were looked at
  };
  [[nodiscard]] static Digests digests_of(std::span<const Piece> pieces);

  const DumpIndex& index_;
  ReadFailures failures_;
  std::mutex lock_;
  std::unordered_map<const TensorRecord*, Piece> known_;
};

// One for all pieces of a tensor, with the set of ranks that they lie on; 0: none is known.
[[nodiscard]] uint64_t contents_number(uint32_t ranks, std::span<const uint64_t> digests);

}  // namespace msdump
