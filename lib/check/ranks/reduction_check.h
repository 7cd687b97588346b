// Is a tensor the reduction of others, element by element, whatever the order of the additions?
//
//   sum      |out - S| <= (n + 1) u A: S and A are the sums of n elements and of their magnitudes, u the rounding of the
//            dtype (unit roundoff), since each of n - 1 additions may round once, and what is stored once more
//   mean     the same of S / n and A / n
//   product  |out - P| <= (n + 1) u |P|
//   max, min the element itself; not judged where one of the elements is NaN
// Elements whose sum overflows the dtype in some order are not judged. NaN and infinities must come out as they add up.
//
// Cost: each element is read once; memory is a slab, whatever the number and size of the tensors, which are opened once for
// each slab.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/ranks/collective_call.h"
#include "io/cancel.h"
#include "tensor/dtype.h"

namespace msdump::check {

// A tensor whose elements are those of the reduction from `first` on.
struct ReducedPart {
  uint32_t tensor = kNone;
  int64_t first = 0, count = 0;
};

struct ReductionFit {
  double worst = 0;           // the largest error, in units of what is allowed
  double max_error = 0;       // |out - S| of that element
  double at_sum = 0, at = 0;  // that element: what it should be and what it is
  int64_t index = 0;          // in the part
  uint64_t beyond = 0;        // elements with a larger error than allowed

  [[nodiscard]] bool fits() const { return beyond == 0; }
};

struct ReductionOf {
  std::span<const uint32_t> sources;  // all have `count` elements
  int64_t count = 0;
  Reduction reduction = Reduction::kSum;
  DType dtype = DType::kUndefined;  // of the framework's tensors
};

// By part. An error if a tensor cannot be read, or the dtype is not one of floats or integers that doubles can hold.
Result<std::vector<ReductionFit>> check_reduction(const CheckedDump& dump, const ReductionOf& of,
                                                  std::span<const ReducedPart> parts, const CancelToken& cancel);

// How a wrong sum came about, by its first elements. No value if neither explains the difference.
struct WrongSum {
  std::optional<size_t> source;  // that counts `times` times in place of once; none: the whole sum does
  double times = 0;
};
Result<std::optional<WrongSum>> explain_sum(const CheckedDump& dump, const ReductionOf& of, const ReducedPart& part);

}  // namespace msdump::check
