// Any numbers as the integer inputs of the passes of two runs: each row is of one token at most, the sequences are those that
// the rows have, and tokens of matched sequences are equal and counted once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compare/tokens/token_match.h"
#include "compare/tokens/token_rows.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;

constexpr size_t kMostPasses = 12, kMostRows = 24;

// Takes numbers from the input: one byte each, or eight where the byte says so, for sizes and positions that no run has.
class Numbers {
 public:
  Numbers(const uint8_t* data, size_t size) : bytes_(data, size) {}

  [[nodiscard]] bool any_left() const { return at_ < bytes_.size(); }
  int64_t next() {
    const uint8_t byte = any_left() ? bytes_[at_++] : 0;
    if (byte != 0xFF || bytes_.size() - at_ < 8) return byte % 16;
    uint64_t wide = 0;
    for (int i = 0; i < 8; ++i) wide = wide << 8U | bytes_[at_++];
    return static_cast<int64_t>(wide);
  }
  size_t below(size_t limit) { return static_cast<uint64_t>(next()) % limit; }
  std::vector<int64_t> list(size_t usual) {
    std::vector<int64_t> numbers(below(4) == 0 ? below(kMostRows) : usual);
    for (int64_t& number : numbers) number = next();
    return numbers;
  }

 private:
  const std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

TokenInputs inputs_of(Numbers& numbers) {
  TokenInputs inputs;
  const size_t batch = 1 + numbers.below(4), width = numbers.below(kMostRows / 4);
  inputs.shape = {static_cast<int64_t>(batch), static_cast<int64_t>(width)};
  if (numbers.below(2) == 0) inputs.shape = {static_cast<int64_t>(batch * width)};
  if (width == 0 && numbers.below(2) == 0) inputs.shape = {INT64_MAX, 0};
  inputs.ids.resize(batch * width);
  for (int64_t& id : inputs.ids) id = numbers.next() % 4;
  const size_t stated = numbers.below(64);
  if ((stated & 1U) != 0) inputs.positions = numbers.list(batch * width);
  if ((stated & 2U) != 0) inputs.cu_seqlens = numbers.list(batch + 1);
  if ((stated & 4U) != 0) inputs.lengths = numbers.list(batch);
  if ((stated & 8U) != 0) inputs.requests = numbers.list(batch);
  if ((stated & 16U) != 0) inputs.slots = numbers.list(batch * width);
  if ((stated & 32U) != 0) inputs.mask = numbers.list(batch * width);
  return inputs;
}

void check_rows(const std::vector<TokenInputs>& passes, const TokenRows& rows) {
  require(rows.passes.size() == passes.size(), "every pass has its rows");
  int64_t tokens = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    int64_t end = 0;
    for (const TokenSpan& span : rows.passes[i].spans) {
      require(span.row >= end && span.count >= 0, "a row is of one token at most");
      end = span.row + span.count;
      require(end <= static_cast<int64_t>(passes[i].ids.size()), "spans lie in the pass");
      const TokenSequence& sequence = rows.sequences.at(span.sequence);
      require(span.position >= sequence.first && span.position + span.count <= sequence.end(),
              "spans lie in their sequence");
      for (int64_t at = 0; at < span.count; ++at) {
        require(sequence.ids[static_cast<size_t>(span.position - sequence.first + at)] ==
                    passes[i].ids[static_cast<size_t>(span.row + at)],
                "a sequence has the ids of its rows");
      }
      tokens += span.count;
    }
  }
  require(rows.rows == tokens + rows.pads, "rows are tokens or pads");
}

void check_match(const std::vector<TokenSequence>& a, const std::vector<TokenSequence>& b) {
  std::set<std::pair<uint32_t, int64_t>> of_a, of_b;
  int64_t tokens = 0;
  const TokenMatch match = match_sequences(a, b);
  for (const MatchedSequence& one : match.sequences) {
    for (int64_t at = one.begin; at < one.begin + one.count; ++at) {
      const TokenSequence &left = a.at(one.a), &right = b.at(one.b);
      require(at >= right.first && at < right.end() && at + one.shift >= left.first && at + one.shift < left.end(),
              "matched tokens lie in their sequences");
      require(right.ids[static_cast<size_t>(at - right.first)] ==
                  left.ids[static_cast<size_t>(at + one.shift - left.first)],
              "matched tokens are equal");
      require(of_a.emplace(one.a, at + one.shift).second && of_b.emplace(one.b, at).second, "a token counts once");
    }
    tokens += one.count;
  }
  require(match.tokens == tokens, "tokens are counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Numbers numbers(data, size);
  std::vector<TokenInputs> passes_a, passes_b;
  while (numbers.any_left() && passes_a.size() + passes_b.size() < 2 * kMostPasses)
    (numbers.below(2) == 0 ? passes_a : passes_b).push_back(inputs_of(numbers));
  const TokenRows rows_a = token_rows(passes_a, {});
  const TokenRows rows_b = token_rows(passes_b, KnownBeginnings(rows_a.sequences));
  check_rows(passes_a, rows_a);
  check_rows(passes_b, rows_b);
  check_match(rows_a.sequences, rows_b.sequences);
  return 0;
}
