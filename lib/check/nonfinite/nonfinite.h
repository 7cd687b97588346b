// Is what is not finite in a tensor a fault? NaN and +inf are. -inf alone is not where it masks, as in attention:
//
//   * an input of the operator has some already (of a sum: as many), or
//   * the operator is one that puts given values (select, fill, where, concat ..), or a cast of numbers that are
//     not results (-1e9, the smallest float32), or
//   * it is a parameter that holds at most one other value: a mask that the network keeps, or
//   * nothing is known of its inputs, and it does not make infinities (log, a quotient, a power)
//
// The edge of a type (-65504, the smallest float32) masks the same way.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "check/checked_dump.h"
#include "check/values/tensor_facts.h"

namespace msdump::check {

enum class Health : uint8_t { kUnknown, kFinite, kMasked, kBad };

class HealthJudge {
 public:
  HealthJudge(const CheckedDump& dump, const FactsReader& facts) : dump_(dump), facts_(facts) {}

  // For an output the inputs of its run must have been read if needs_inputs() holds.
  [[nodiscard]] Health of(uint32_t tensor) const;
  // Health of a run's result, even if the input of another run shows it.
  [[nodiscard]] Health of_made(uint32_t tensor, uint32_t run) const;
  [[nodiscard]] bool needs_inputs(uint32_t tensor) const;
  // An infinity that came in, as a constant or a parameter (where a running minimum begins), and that every operator
  // that read it turned into something finite. Their outputs must have been read.
  [[nodiscard]] bool does_no_harm(uint32_t tensor) const;
  // Has a sum more -inf than its terms, all of which are known, account for?
  [[nodiscard]] bool has_more_than_its_terms(uint32_t tensor, uint32_t run) const;
  // The tensors that show the inputs: the dump of each, else its producer's output.
  [[nodiscard]] std::vector<uint32_t> inputs_of(uint32_t run) const;

 private:
  [[nodiscard]] bool has_finite_outputs(uint32_t run) const;
  [[nodiscard]] Health of_negative_infinity(uint32_t tensor, uint32_t run) const;

  const CheckedDump& dump_;
  const FactsReader& facts_;
};

// At most one finite value beside its infinities.
[[nodiscard]] bool is_two_valued(const TensorFacts& facts);
// Does an operator of this type write values that it was given, or move them about?
[[nodiscard]] bool puts_given_values(std::string_view op_type);

}  // namespace msdump::check
