// msprobe's Result and Err_message: rules over all rows of one entry. A row has the worst of its verdicts; the messages
// are in the order of the rules.
//
//   E1  max or min of the target is NaN or infinite, and the golden one's is not
//   E2  tensors: the least 1/1000 ratio of the inputs is above 0.9 and that of the outputs below 0.1 (the message says
//       0.6): the first output. Statistics: no input's relative error of the norm reaches 10 %: outputs above 50 %
//   E3  requires_grad differs   E4  a scalar argument's value differs   E5  dtype   E6  shape
//   W1  tensors: the least cosine falls from above 0.9 by more than 0.1: the first output. Statistics: the largest
//       relative error of the norm grows more than tenfold, or from 0 to above 10 %: the first output
//   checksums: an error when they differ, a warning when one side has none
// Outputs are the rows with ".output." in the name, all others count as inputs. Metrics that are texts (NaN, N/A,
// "inf") are ignored, so a NaN output can pass. For some APIs (empty, to, ...) nothing is judged, for some collectives
// only the outputs. All of this is msprobe's, faults included.
// Source: reference/compare-and-check.md 2.5, reference/verified-on-real-msprobe.md 6; msprobe 26.2.0.
#pragma once

#include <span>

#include "profiles/msprobe/row.h"

namespace msdump {

// The rows of one entry, in the order of the file.
void judge_msprobe_rows(std::span<MsprobeRow> rows, MsprobeMode mode);

}  // namespace msdump
