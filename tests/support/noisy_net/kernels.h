// What the operators of a net compute, in an arithmetic, and what a wrong kernel of them computes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/noisy_net/net.h"

namespace msdump::noisy {

struct Tensor {
  Shape shape;
  Numbers v;
};

// What is wrong with a kernel.
struct Twist {
  std::optional<double> epsilon;  // in place of the operator's own
  std::optional<int> axis;        // in place of the last, of Softmax and reductions
  double factor = 1;              // on the outputs
  int mantissa = 0;               // inputs and outputs with so few bits
  bool no_term = false;           // the second operand of BiasAdd and Add, the first of AddN is left out
  bool transposed = false;        // a square second operand
  bool part = false;              // of the rows that are added up: the last eighth is left out
};

struct KernelCall {
  const NetNode* node = nullptr;
  std::vector<const Tensor*> in;
  std::vector<Tensor> out;      // with their shapes
  std::vector<Tensor> updated;  // new values of inputs that no output holds: by NetNode::updates
  const Arithmetic* how = nullptr;
  Twist twist = {};

  [[nodiscard]] double scalar(size_t slot) const { return in[slot]->v[0]; }
};

// Fills `out`, rounded as `how` stores it. An unknown type is an exception.
void compute(KernelCall& call);

// Its parts, by kind of operator; false if they do not know the type.
bool compute_elementwise(KernelCall& call);
bool compute_products(KernelCall& call);
bool compute_norms(KernelCall& call);
bool compute_layout(KernelCall& call);
bool compute_reductions(KernelCall& call);
bool compute_optimizers(KernelCall& call);

}  // namespace msdump::noisy
