// ValueProbe: do two tensors hold the values of one computation, done twice? A few hundred elements decide. Two runs of a
// network correlate in spite of another precision and of a loss scale; other tensors of the same size do not.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compare/match/read_failures.h"
#include "graph/join/dump_operators.h"

namespace msdump {

class ValueProbe {
 public:
  ValueProbe(const DumpWithGraph& a, const DumpWithGraph& b) : a_(a), b_(b) {}

  // From 0 (nothing in common) to 1. No value where that cannot be known: one has no elements or cannot be read, or is
  // constant and the other is not.
  [[nodiscard]] std::optional<double> similarity(uint32_t a, uint32_t b);
  // Do they hold the same values, not only alike ones? False where that cannot be known.
  [[nodiscard]] bool is_same(uint32_t a, uint32_t b);
  // Files that could not be read.
  [[nodiscard]] const ReadFailures& failures() const { return failures_; }

 private:
  struct Sample {
    int64_t count = 0;  // of the whole tensor
    std::vector<double> values;
  };
  using Samples = std::unordered_map<uint32_t, Sample>;
  // Empty for a tensor that says nothing.
  const Sample& sample_of(const DumpWithGraph& side, Samples& samples, uint32_t tensor);

  const DumpWithGraph a_, b_;  // handles: what they point to outlives this
  Samples samples_a_, samples_b_;
  ReadFailures failures_;
};

}  // namespace msdump
