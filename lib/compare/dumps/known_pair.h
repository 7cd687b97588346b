// The lists of what the comparison of a pair finds, for a part of a run (parts/fact_codec.h).
#pragma once

#include "compare/dumps/compare_dumps.h"
#include "compare/pair/known_diff.h"
#include "parts/fact_codec.h"

namespace msdump {

void fields(auto& visit, FieldsOf<WorstElement> auto& value) { MSDUMP_FIELDS(index, a, b, distance); }
void fields(auto& visit, FieldsOf<AxisRange> auto& value) { MSDUMP_FIELDS(first, last, share, max_abs, mismatches); }
void fields(auto& visit, FieldsOf<AxisError> auto& value) { MSDUMP_FIELDS(axis, extent, ranges, carried); }
void fields(auto& visit, FieldsOf<ErrorAxes> auto& value) { MSDUMP_FIELDS(of_mismatches, axes); }
void fields(auto& visit, FieldsOf<SecondLook> auto& value) { MSDUMP_FIELDS(worst, axes); }
void fields(auto& visit, FieldsOf<PairDetails> auto& value) { MSDUMP_FIELDS(worst, look); }

}  // namespace msdump
