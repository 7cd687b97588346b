// The dump of a run, as MindSpore 2.10 writes one on a CPU: .npy files of all operators and the IR, or statistic.csv.
#pragma once

#include <filesystem>

#include "support/noisy_net/evaluate.h"

namespace msdump::noisy {

struct DumpForm {
  bool ir = true;
  bool statistics = false;  // statistic.csv in place of the tensors
  bool half_files = false;  // float16 is written as such, not as float32
};

void write_dump(const std::filesystem::path& folder, const Net& net, const std::vector<StepValues>& steps,
                const Arithmetic& how, const DumpForm& form);

[[nodiscard]] std::string ir_of(const Net& net);

}  // namespace msdump::noisy
