// gain_of(): how an operator of a type passes on the errors of its inputs, and how much rounding it adds. The table is
// behind the expected error (expectation.h), and each of its rows has its reason beside it.
//
// Errors are relative: the root mean square of the differences over that of the reference. A gain is the relative error
// of an output over that of the input that causes it, if that error is random over the elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

enum class GainRule : uint8_t {
  kUnit,          // 1
  kPart,          // 1; a part of the input may have all of its error
  kJoin,          // norm of the input over that of the output, at most 1: the output is assembled from inputs
  kAdd,           // root mean square of the input over that of the output: cancellation raises it
  kAccumulate,    // kAdd for the first input; for others at most 1, and at least their change of the output
  kContraction,   // sqrt(K) rms(x) rms(w) / rms(y): of a sum of K products, from the shapes
  kSum,           // between random errors (norm over norm) and equal ones (sqrt(K) times that)
  kMean,          // likewise over K
  kExponential,   // rms(x): an absolute error becomes a relative one
  kPowerOf,       // log(y) for y = b^x, because that is x log(b)
  kLogarithm,     // 1 / rms(y): a relative error becomes an absolute one
  kLossOfLogits,  // rms(x) / rms(y): an absolute error of the logits is one of the result
  kSlope,         // rms(x) / rms(y): a slope of at most 1
  kNormalise,     // rms(x) / std(x) for the first input: the mean is subtracted
  kProject,       // 1; for gradients of parameters kSum of the gradient: their terms cancel
  kFlip,          // 1 for gradients; for the values that decide what passes, the root of the error
  kChoose,        // indices or truth values: judged with equal inputs only
  kRandom,        // draws random numbers: never judged
};

// The kind of arithmetic sets the operator's own rounding. Operators of one class stand in for missing siblings.
enum class NoiseClass : uint8_t {
  kMoves,
  kElementwise,
  kTranscendental,
  kReduction,
  kProducts,
  kNormalisation,
  kUpdate,
  kUnknown
};

struct OperatorGain {
  GainRule rule = GainRule::kUnit;
  NoiseClass noise = NoiseClass::kUnknown;
  // The spread of single operators around the model, before siblings are considered: the standard deviation of
  // log(measured / expected).
  double spread = 0.7;
  // The relative difference between results of accepted algorithms, which an operator without siblings may have.
  double approximation = 0;
};

// `family`: gain_family() of an operator type of MindSpore, the device or PyTorch.
[[nodiscard]] OperatorGain gain_of(std::string_view family);

// The family in the operator table (ge/operators/operator_table.h), lower case and without '_': "conv2d" for Conv2D.
[[nodiscard]] std::string gain_family(std::string_view op_type);

// The operator of each execution, by type and name: how it passes on errors, and whether it is a module.

class RunOperators {
 public:
  explicit RunOperators(const RunView& view);

  [[nodiscard]] const std::string& family(ExecutionId run) const { return families_[type_of_[run]]; }
  [[nodiscard]] const OperatorGain& gain(ExecutionId run) const { return gains_[type_of_[run]]; }
  // Dense numbers from 0. What a unit executes has the same fault: a name in all steps and on all ranks, as operators of msprobe
  // are paired step by step, and all calls of a module, which share its parameters.
  [[nodiscard]] uint32_t type(ExecutionId run) const { return type_of_[run]; }
  [[nodiscard]] uint32_t unit(ExecutionId run) const { return unit_of_[run]; }
  [[nodiscard]] bool is_module(ExecutionId run) const { return is_module_[unit_of_[run]]; }  // of msprobe
  // True for a module if the dump also has the calls inside it, whose outputs it repeats.
  [[nodiscard]] bool repeats(ExecutionId run) const { return modules_repeat_ && is_module(run); }

 private:
  std::vector<std::string> families_;        // by type
  std::vector<OperatorGain> gains_;          // by type
  std::vector<uint32_t> type_of_, unit_of_;  // by run
  std::vector<bool> is_module_;              // by unit
  bool modules_repeat_ = false;
};

}  // namespace msdump
