// The calls that only one of two dumps has, by the line of the script that made them: "12 calls at train.py:87 exist only
// in the reference".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compare/match/pairing.h"
#include "graph/lines/operator_lines.h"

namespace msdump {

struct OneSidedLine {
  bool of_reference = false;
  const SourceFrame* frame = nullptr;
  std::vector<uint32_t> operators;  // in Pairing::operators; one for each call and rank
  uint32_t shared = 0;              // calls of this line that do have a partner
};

// In the order of the first operators. Left out: operators without tensors, without a line, of a step that the other side
// lacks, or alone for a known reason, such as those that a compiler inserted; and everything between two frameworks, which
// have operators of their own.
[[nodiscard]] std::vector<OneSidedLine> one_sided_lines(const Pairing& pairing, const OperatorLines& a,
                                                        const OperatorLines& b);

}  // namespace msdump
