// The operator of each run, by its type and its name alone: how it passes on errors, whether it is a module, and which
// runs are of the same operator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "divergence/model/operator_gain.h"
#include "divergence/runs/run_view.h"

namespace msdump {

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
