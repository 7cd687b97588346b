// AgreementBehind: behind which executions the sides agree again, but for noise, although a few operators in a row
// differ: there, both sides write the same in two ways.
#pragma once

#include <vector>

#include "divergence/runs/run_view.h"

namespace msdump {

class AgreementBehind {
 public:
  // `first_root`: the execution of the first root. The view must outlive this.
  AgreementBehind(const RunView& view, ExecutionId first_root);

  // True if in the rest of its step and in later ones only few operators in a row differ, and the last one does not.
  [[nodiscard]] bool of(ExecutionId run) const { return behind_[run]; }

 private:
  [[nodiscard]] bool is_known(ExecutionId run) const;
  [[nodiscard]] bool agrees(TensorId tensor) const;

  const RunView& view_;
  const double most_;         // the largest error that is noise
  std::vector<bool> behind_;  // by run
};

}  // namespace msdump
