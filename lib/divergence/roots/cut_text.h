// Describes a cut gradient by the lines of the forward operators: "the gradient is cut at net.py:27: 12 gradient
// operators exist only in the reference".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "divergence/dump_diff.h"

namespace msdump {

struct CutLine {
  const SourceFrame* frame = nullptr;  // not null
  uint32_t operators = 0;
};

// Most operators first. Operators without a line are left out.
[[nodiscard]] std::vector<CutLine> lines_of_cut(const DiffResult& run, const GradientCut& cut);
[[nodiscard]] std::string text_of_cut(const DiffResult& run, const GradientCut& cut);

}  // namespace msdump
