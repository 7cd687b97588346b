// How an operator passes on the errors of its inputs and how much rounding it adds, by its type: the table behind the
// expected error of a run (expectation.h). Each row of the table has its reason beside it.
//
// Errors are relative: the root mean square of the differences over that of the reference. A gain is the relative error
// of an output over that of the input that causes it, for an error that is spread at random over the elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

enum class GainRule : uint8_t {
  kUnit,          // 1
  kPart,          // 1; of a part of the input up to all of its error
  kJoin,          // norm of the input over that of the output, at most 1: the output is put together from inputs
  kAdd,           // root mean square of the input over that of the output: cancellation raises it
  kAccumulate,    // kAdd; of terms whose factor is not dumped at least what they change of the output, and at most 1
  kContraction,   // sqrt(K) rms(x) rms(w) / rms(y): of a sum of K products, from the shapes
  kSum,           // between random errors (norm over norm) and equal ones (sqrt(K) times that)
  kMean,          // likewise over K
  kExponential,   // rms(x): an absolute error becomes a relative one
  kPowerOf,       // log(y), of y = b^x, as that is x log(b)
  kLogarithm,     // 1 / rms(y): a relative error becomes an absolute one
  kLossOfLogits,  // rms(x) / rms(y): an absolute error of the logits is one of the result
  kSlope,         // rms(x) / rms(y): a slope of at most 1
  kNormalise,     // rms(x) / std(x) for the first input: the mean is subtracted
  kProject,       // 1; of gradients of parameters kSum of the gradient: their terms cancel
  kFlip,          // 1 for gradients; of the values that decide what passes, the root of the error
  kChoose,        // indices or truth values: judged with equal inputs only
  kRandom,        // draws random numbers: never judged
};

// What kind of arithmetic sets the operator's own rounding; operators of one class stand in for missing siblings.
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
  // How far single operators lie around the model: standard deviation of log(measured / expected), before siblings
  // are asked.
  double spread = 0.7;
  // The results of accepted algorithms differ by this much, in relative terms: an operator without siblings may use
  // another one than the reference does.
  double approximation = 0;
};

// `family`: gain_family() of an operator type of MindSpore, the device or PyTorch.
[[nodiscard]] OperatorGain gain_of(std::string_view family);

// The family of the operator table (ge/operators/operator_table.h) without '_' and what distinguishes the frameworks'
// spellings: "conv2d" of Conv2D, Conv2d and conv2d.
[[nodiscard]] std::string gain_family(std::string_view op_type);

// The operator of each run, by its type and its name alone: how it passes on errors, whether it is a module, and which
// runs are of the same operator.

class RunOperators {
 public:
  explicit RunOperators(const RunView& view);

  [[nodiscard]] const std::string& family(uint32_t run) const { return families_[type_of_[run]]; }
  [[nodiscard]] const OperatorGain& gain(uint32_t run) const { return gains_[type_of_[run]]; }
  // Dense numbers from 0. The same name is the same operator, in all steps and on all ranks: msprobe pairs those of each
  // step for themselves.
  [[nodiscard]] uint32_t type(uint32_t run) const { return type_of_[run]; }
  [[nodiscard]] uint32_t unit(uint32_t run) const { return unit_of_[run]; }
  [[nodiscard]] bool is_module(uint32_t run) const { return is_module_[unit_of_[run]]; }  // of msprobe
  // A module that writes what the calls inside it write, which were dumped, too.
  [[nodiscard]] bool repeats(uint32_t run) const { return modules_repeat_ && is_module(run); }

 private:
  std::vector<std::string> families_;        // by type
  std::vector<OperatorGain> gains_;          // by type
  std::vector<uint32_t> type_of_, unit_of_;  // by run
  std::vector<bool> is_module_;              // by unit
  bool modules_repeat_ = false;
};

}  // namespace msdump
