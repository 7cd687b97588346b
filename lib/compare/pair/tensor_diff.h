// Two tensors compared, slab by slab: all metrics of kernels/pair/pair.h and a verdict. What needs the metrics first, worst
// elements and where the error lies, is found by a second look (second_look.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compare/pair/tolerance.h"
#include "dump/index/host_tensor.h"
#include "io/cancel.h"
#include "io/worker_pool.h"
#include "kernels/pair/pair.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

enum class Verdict : uint8_t {
  kSame,   // the same values after exact widening; -0 is +0, NaN in equal places
  kClose,  // within the tolerance
  kDiffer,
  kNan,  // NaN or an infinity on one side only
  kShape,
  kDtype,      // another kind: float, integer, bool, complex
  kUnmatched,  // nothing on the other side
  kEmpty,      // no elements on either side
  kSkipped,    // could not be compared; the reason says why
};
[[nodiscard]] std::string_view name_of(Verdict verdict);
// Does it say that something is wrong?
[[nodiscard]] bool is_difference(Verdict verdict);

struct TensorDiff {
  Verdict verdict = Verdict::kSkipped;
  std::string reason;  // of what is no plain verdict, and notes: "dimensions of 1 ignored"
  kernels::PairMetrics metrics;
  std::optional<double> kl;                     // only if asked for; not of complex numbers
  double scale = 0;                             // of b: typical_scale.h
  Limits limits;                                // that were used
  std::optional<Limits> tolerance_that_passes;  // tolerance.h
  Shape shape;                                  // of a
  DType dtype_a = DType::kUndefined, dtype_b = DType::kUndefined;
  // Compared by statistics (statistic_diff.h): no element of one of the sides was seen. Then the metrics without a value
  // are unknown, and so are the whole numbers among them, but for nan_a and nan_b where these have been counted.
  bool by_statistics = false;
  bool nan_counted_a = false, nan_counted_b = false;
  bool nan_in_a_alone = false;  // something says so
  uint64_t checksum_b = 0;      // a hash of it; 0: none
  // What stands for relative_l2 then: the largest deviation of a statistic, relative to the scale of the tensor, beyond
  // what it is printed with. Infinite where b is 0; no value where nothing tells.
  std::optional<double> relative_error;
};

// Were elements compared, so that there are metrics?
[[nodiscard]] bool has_metrics(Verdict verdict);

struct PairOptions {
  bool kl = false;             // costs a second pass over tensors that differ
  bool any_shape = false;      // shapes with as many elements are compared: what a dump shows of an input may be its
                               // producer's shape, of which a reshape that costs nothing has made another
  WorkerPool* pool = nullptr;  // shares a large tensor; the result does not depend on it
};

// An error when one of the tensors cannot be read.
Result<TensorDiff> diff_tensors(HostTensor& a, HostTensor& b, const Tolerance& tolerance, const CancelToken& cancel,
                                const PairOptions& options = {});

// The index of an element: 1234 of (10, 20, 30) is {2, 1, 4}.
[[nodiscard]] std::vector<int64_t> index_of_element(uint64_t flat, const Shape& shape);

}  // namespace msdump
