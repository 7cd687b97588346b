// The lists of what a comparison of two tensors finds, for a part of a run (parts/fact_codec.h).
#pragma once

#include "compare/pair/tensor_diff.h"
#include "parts/fact_codec.h"

namespace msdump {
namespace kernels {

void fields(auto& visit, FieldsOf<PairMetrics> auto& value) {
  MSDUMP_FIELDS(count, equal, over_tolerance, reference_zero, nan_a, nan_b, nan_mismatch, inf_mismatch, max_abs,
                max_rel, max_scaled, mean_abs, mean_rel, rmse, l2_distance, relative_l2, cosine, std_a, std_b, mean_a,
                mean_b, max_a, max_b, min_a, min_b, under_1e3, under_5e3, p50_abs, p99_abs, max_ulp, worst);
}

}  // namespace kernels

void fields(auto& visit, FieldsOf<Limits> auto& value) { MSDUMP_FIELDS(rtol, atol); }
void fields(auto& visit, FieldsOf<TensorDiff> auto& value) {
  MSDUMP_FIELDS(verdict, reason, metrics, kl, scale, limits, tolerance_that_passes, shape, dtype_a, dtype_b,
                by_statistics, reshaped, mislabelled, nan_counted_a, nan_counted_b, nan_in_a_alone, checksum_b,
                relative_error, no_such_place, extremes_only);
}

}  // namespace msdump
