// A net run for some steps in an arithmetic: every operator reads the rounded results of those before it, and what an
// optimizer updates is there in the next step.
#pragma once

#include <map>
#include <vector>

#include "support/noisy_net/kernels.h"
#include "support/noisy_net/random_net.h"

namespace msdump::noisy {

// One operator goes wrong, in every step.
struct KernelFault {
  uint32_t node = kAbsent;
  Twist twist;
  double share = 1;  // of the way from the right result to the wrong one
  bool nan = false;  // a few numbers in a row are NaN
};

struct Run {
  Arithmetic how;
  uint64_t seed = 0;
  int steps = 1;
  std::vector<KernelFault> faults = {};
  std::map<Ref, Numbers> parameters = {};  // other values to begin with
};

struct StepValues {
  std::vector<Tensor> values;  // by value; parameters as they were at the start of the step
  std::vector<Tensor> low;     // of parameters and inputs that are read in 16 bits: what is read. Else empty
  std::vector<Tensor> after;   // of those that were updated: the result. Else empty

  // What the operator reads, and what the file of that input holds after it has run.
  [[nodiscard]] const Tensor& read(const NetNode& node, size_t slot, const Arithmetic& how) const;
  [[nodiscard]] const Tensor& shown(const NetNode& node, size_t slot, const Arithmetic& how) const;
};

// What this operator computes in: optimizers always in float32, in mixed precision more of them.
[[nodiscard]] Arithmetic arithmetic_of(const NetNode& node, const Arithmetic& how);

[[nodiscard]] std::vector<StepValues> evaluate(const Net& net, const Run& run);
// The outputs of one operator if it reads what is in `values`.
[[nodiscard]] std::vector<Tensor> outputs_of(const Net& net, const StepValues& values, const Arithmetic& how,
                                             const KernelFault& fault);

// |a - b| / |b|; infinite where one side is not finite. A power of two between them is divided out if `scaled`.
[[nodiscard]] double relative_error(const Numbers& a, const Numbers& b, bool scaled = false);

}  // namespace msdump::noisy
