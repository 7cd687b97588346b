// TensorDiff: how two tensors differ (metrics, verdict, reason). diff_tensors() reads both tensors and decides the verdict
// within a tolerance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/compact.h"
#include "base/error.h"
#include "compare/pair/packed_metrics.h"
#include "compare/pair/tolerance.h"
#include "dump/elements/host_tensor.h"
#include "io/run_context.h"
#include "io/worker_pool.h"
#include "kernels/pair/pair.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

// typical_scale(): the scale of a tensor's elements, for tolerances. It is the root mean square of a sample; a few large
// elements do not set the scale for all.
//
//   1. the sample is 16 pieces of 1024 elements, evenly spread; for a tensor that can only be read in order, its beginning
//   2. zeros, NaN and infinities say nothing about the scale and are left out. A sample that keeps fewer than 1024 elements
//      comes from a sparse tensor (the gradient of an embedding, padding): then all elements are read, up to 4 million kept
//   3. if the magnitudes fall into two populations, the lower one counts: a mask of -1e4 beside scores of 1. The two are a
//      hundred times apart, at least a twentieth of the sample is below, and those above are within a factor of 4
//
// If no element is kept, the scale is 0. Complex numbers count by their parts, times the root of 2.

Result<double> typical_scale(HostTensor& tensor, const CancelToken& cancel);

// The scale of a sample by rule 3; the order of its elements does not matter.
[[nodiscard]] double scale_of_sample(const std::vector<double>& sample);

// diff_tensors(): compares two tensors slab by slab. It returns all metrics of kernels/pair/pair.h and a verdict. The worst
// elements and the place of the error need the metrics first: element_errors.h.

enum class Verdict : uint8_t {
  kSame,   // the same values after exact widening; -0 equals +0, NaN equals NaN
  kClose,  // within the tolerance
  kDiffer,
  kNan,  // NaN or an infinity on one side only
  kShape,
  kDtype,      // another kind: float, integer, bool, complex
  kUnmatched,  // nothing on the other side
  kEmpty,      // no elements on either side
  kSkipped,    // could not be compared; the reason says why
};
[[nodiscard]] constexpr Verdict last_of(Verdict) { return Verdict::kSkipped; }
[[nodiscard]] std::string_view name_of(Verdict verdict);
// Values that agree to so many steps of their size are taken for the same number.
inline constexpr double kFourDigits = 1e4;

// True if the extremes of a tensor tell it from others. Masked values have an infinite extreme, which is missing; the other one tells it
// unless it is an integer. Constants are the same in many tensors, but for a single number with many digits, such as a loss.
[[nodiscard]] bool are_telling(const std::optional<double>& max, const std::optional<double>& min,
                               std::optional<int64_t> elements);

// True for kDiffer, kNan, kShape, kDtype and kUnmatched.
[[nodiscard]] bool is_difference(Verdict verdict);

// Hashes of what a pair has beside its metrics; 0: none. Few dumps have any.
struct PairHashes {
  uint64_t checksum_a = 0, checksum_b = 0;
  // Hashes of the statistics that msprobe wrote beside a tensor; 0 also where many tensors have equal ones.
  uint64_t written_a = 0, written_b = 0;
  bool operator==(const PairHashes&) const = default;
};

struct TensorDiff {
  Verdict verdict = Verdict::kSkipped;
  DType dtype_a = DType::kUndefined, dtype_b = DType::kUndefined;
  // True if compared by statistics (statistic_diff.h), because one side has no elements. Metrics without a value are then
  // unknown. So are all counts but nan_a and nan_b, if nan_counted_ says so.
  bool by_statistics = false;
  bool reshaped = false;     // elements were compared although the shapes differ; `reason` has both
  bool mislabelled = false;  // the bytes of a side are not the values: graph/join/dump_operators.h
  bool nan_counted_a = false, nan_counted_b = false;
  bool nan_in_a_alone = false;  // known, not assumed
  bool no_such_place = false;   // unmatched: the other side has no such rank or step
  bool without_rule = false;    // kDiffer because no rule is for it: DiffRules::require_rule
  bool extremes_only = false;   // infinities hide what mean and norm say: relative_error may be far too small
  Shared<std::string> reason;   // why, and notes: "dimensions of 1 ignored"
  PackedMetrics metrics;
  CompactOptional<double> kl;  // on request; not for complex numbers
  double scale = 0;            // typical_scale() of b
  Limits limits;               // the tolerance that was used
  Shared<Shape> shape;         // of a
  Shared<PairHashes> hashes;
  // Replaces relative_l2 for statistics: the largest deviation of a statistic, relative to the scale of the tensor, beyond
  // the rounding of its text. Infinite if b is 0; no value if no statistic can be compared.
  CompactOptional<double> relative_error;
  // By statistics, a lower bound of the relative L2 of the elements: the error of the mean, relative to `scale`, or that of the norm,
  // relative to the norm of b, whichever is larger.
  double least_error = 0;

  // relative_l2, or relative_error in its place.
  [[nodiscard]] std::optional<double> error() const {
    return by_statistics ? std::optional<double>(relative_error) : metrics->relative_l2;
  }
  // passing_limits() of the elements that were compared.
  [[nodiscard]] std::optional<Limits> tolerance_that_passes() const { return passing_limits(metrics, scale); }
};

// True if elements or statistics were compared.
[[nodiscard]] bool has_metrics(Verdict verdict);

struct PairOptions {
  bool on_request = false;     // also the metrics that take a second pass over tensors that differ: kl
  bool any_shape = false;      // compare other shapes with as many elements: a dump may give an input the shape of its
                               // producer, although a reshape without a kernel lies between
  WorkerPool* pool = nullptr;  // splits a large tensor; the result does not depend on it
};

// An error if one of the tensors cannot be read.
Result<TensorDiff> diff_tensors(HostTensor& a, HostTensor& b, const Tolerance& tolerance, const CancelToken& cancel,
                                const PairOptions& options = {});

// The index of an element: 1234 of (10, 20, 30) is {2, 1, 4}.
[[nodiscard]] std::vector<int64_t> index_of_element(uint64_t flat, const Shape& shape);

}  // namespace msdump
