// TokenRows: the token that each row of the token axis is, for every forward pass of a run: of batches padded on either side, of
// sequences packed into one row, of prompts in chunks, of one token a pass. The integer inputs of the passes tell which is which:
//
//   1. rows of one pass are split into spans of consecutive tokens: by cu_seqlens, else where positions do not go up by 1,
//      and at the rows of the batch; also where the other side has both tokens, but not one behind the other. Pads are told by the attention mask, else by positions that stay the same
//   2. a span at position 0 begins a sequence. One at position p continues a sequence: that of its request or its row of the
//      batch, else the one that has p tokens. If several have, one that the other side knows as such, then by the place in
//      the cache, then by the order of the pass before. Without one it begins a sequence at p, whose first tokens were cached
//   3. positions may be what is wrong. So the tokens that a sequence had before the pass count where they are stated, and
//      a sequence that the other side knows as such is continued at any position
//   4. a span that begins before the end of its sequence replaces the rest: tokens of a draft model that were rejected
//   5. passes of one source follow each other. A sequence that another source began is continued only if no own one fits: a rank
//      has a part of it
//   6. without positions, spans are whole rows of the batch; where the other side's sequences begin with the same tokens, rows
//      are split like these
// Cost: linear in the tokens, and at most kMostTried sequences looked at for a span.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/containers.h"
#include "tensor/shape.h"

namespace msdump {

// The integer inputs of a forward pass. Those that were not dumped are empty.
struct TokenInputs {
  uint32_t source = 0;  // the ranks that run it; those of the next source read other tokens
  Shape shape;          // of the ids: {rows} or {batch, rows of each}
  std::vector<int64_t> ids;
  std::vector<int64_t> positions;   // of each row; or of a row of the batch, for all of these
  std::vector<int64_t> cu_seqlens;  // the first row of each sequence, and the end of the last
  std::vector<int64_t> lengths;     // tokens of each sequence at the end of the pass
  std::vector<int64_t> requests;    // of each sequence of the pass, an id
  std::vector<int64_t> slots;       // of each row, in the cache
  std::vector<int64_t> mask;        // 0 for pads; of the batch, with the tokens of earlier passes in front

  // True if something tells where sequences begin.
  [[nodiscard]] bool tells_sequences() const {
    return !positions.empty() || !cu_seqlens.empty() || !mask.empty() || (shape.size() == 2 && shape[0] > 1);
  }
};

// Rows [row, row + count) are tokens [position, position + count) of a sequence.
struct TokenSpan {
  int64_t row = 0, count = 0, position = 0;
  uint32_t sequence = 0;  // in TokenRows::sequences
  bool operator==(const TokenSpan&) const = default;
};

struct PassRows {
  int64_t batch = 1, rows = 0;   // rows of the batch, and rows in all
  std::vector<TokenSpan> spans;  // by row; rows in none are pads
};

// Tokens [first, first + ids) of a sequence. Those before `first` came from a cache.
struct TokenSequence {
  int64_t first = 0;
  std::vector<int64_t> ids;

  [[nodiscard]] int64_t end() const { return first + static_cast<int64_t>(ids.size()); }
  bool operator==(const TokenSequence&) const = default;
};

struct TokenRows {
  std::vector<PassRows> passes;
  std::vector<TokenSequence> sequences;
  int64_t rows = 0, pads = 0;
  // Spans of which several sequences had the length and nothing told which, and spans for which not all were looked at.
  uint64_t undecided = 0, cut_short = 0;
};

// Hashes of the beginnings of sequences, which tell to which sequence a token may belong.
class KnownBeginnings {
 public:
  KnownBeginnings() = default;
  // Those of the sequences that begin at 0; also without a row of equal tokens in front, which may be pads.
  explicit KnownBeginnings(std::span<const TokenSequence> sequences);

  // The hash of the tokens with one more; 0 is that of none.
  [[nodiscard]] static uint64_t with(uint64_t hash, int64_t id) {
    return mix_hash(hash + 1, static_cast<uint64_t>(id));
  }
  [[nodiscard]] bool has(uint64_t hash) const { return hashes_.contains(hash); }
  [[nodiscard]] bool empty() const { return hashes_.empty(); }
  // True if a sequence has the token at that position, and if one has two tokens there.
  [[nodiscard]] bool has_token(int64_t position, int64_t id) const { return places_.contains(place(position, id)); }
  [[nodiscard]] bool has_tokens(int64_t position, int64_t id, int64_t next) const {
    return places_.contains(with(place(position, id), next));
  }

 private:
  static uint64_t place(int64_t position, int64_t id) { return with(with(0, position), id); }

  std::unordered_set<uint64_t> hashes_, places_;
};

// The number of equal tokens in front, if they are two or more; else 0.
[[nodiscard]] int64_t equal_in_front(const TokenSequence& sequence);

// `passes` in their order. `known`: of the other side; empty if nothing is known of it yet. Inputs whose sizes do not go with
// the ids, or whose values no run has, are taken as not dumped.
[[nodiscard]] TokenRows token_rows(std::span<const TokenInputs> passes, const KnownBeginnings& known);

}  // namespace msdump
