#include "compare/statistics/record_diff.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compare/statistics/statistic_diff.h"
#include "dump/elements/host_tensor.h"

namespace msdump {
namespace {

bool has_elements(const TensorRecord& record) {
  return record.has_elements && (!record.broken || record.table == kNoTable);
}

// Elements on one side only; `a_has`: on that of a.
class MixedDiff {
 public:
  MixedDiff(const DumpSide& side, const TensorRecord& elements, const StatisticValues& stored, bool a_has,
            const Tolerance& tolerance, const RunContext& context, bool any_shape)
      : side_(side),
        elements_(elements),
        stored_(stored),
        a_has_(a_has),
        any_shape_(any_shape),
        tolerance_(tolerance),
        context_(context) {}

  // Where several versions may have written the other side, the first that agrees decides.
  Result<TensorDiff> run() {
    std::optional<TensorDiff> first;
    for (const stats::Dialect* dialect : dialects_of(stored_)) {
      MSDUMP_TRY(const StatisticValues values, computed_values(side_.index, elements_, stored_, dialect, context_));
      TensorDiff diff = a_has_ ? diff_statistics(values, stored_, tolerance_, any_shape_)
                               : diff_statistics(stored_, values, tolerance_, any_shape_);
      if (!is_difference(diff.verdict)) return as_sampled(std::move(diff));
      if (!first) first = std::move(diff);
    }
    return as_sampled(std::move(*first));
  }

 private:
  // Tries a sampled dump, whose statistics are those of the first elements. If they differ it was not sampled: the
  // shapes differ.
  [[nodiscard]] TensorDiff as_sampled(TensorDiff diff) const {
    const auto sampled = sampled_elements(elements_, stored_);
    if (!sampled) return diff;
    if (!is_difference(diff.verdict)) {
      const std::string first = *sampled == 1 ? "element" : fmt::format("{} elements", *sampled);
      diff.reason += fmt::format("; of the first {} only: a sampled dump", first);
      if (diff.verdict == Verdict::kSame) diff.verdict = Verdict::kClose;
      return diff;
    }
    const std::string own = describe(*elements_.shape), other = describe(*stored_.shape);
    TensorDiff shapes;
    shapes.verdict = Verdict::kShape;
    shapes.reason = fmt::format("{} against {}", a_has_ ? own : other, a_has_ ? other : own);
    shapes.shape = a_has_ ? *elements_.shape : *stored_.shape;
    shapes.dtype_a = diff.dtype_a;
    shapes.dtype_b = diff.dtype_b;
    shapes.by_statistics = true;
    return shapes;
  }

  const DumpSide& side_;
  const TensorRecord& elements_;
  const StatisticValues& stored_;
  const bool a_has_, any_shape_;
  const Tolerance& tolerance_;
  const RunContext& context_;
};

}  // namespace

Result<TensorDiff> diff_records(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                                const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                                const PairOptions& options) {
  MSDUMP_CHECK_OK(context.cancel.check());
  if (has_elements(record_a) && has_elements(record_b)) {
    MSDUMP_TRY(HostPair opened, open_pair(a.index, record_a, b.index, record_b));
    PairOptions shared = options;
    shared.pool = &context.pool;
    return diff_tensors(opened.left, opened.right, tolerance, context.cancel, shared);
  }
  if (has_elements(record_a)) {
    MSDUMP_TRY(const StatisticValues stored, b.tables.values_of(record_b));
    return MixedDiff(a, record_a, stored, true, tolerance, context, options.any_shape).run();
  }
  MSDUMP_TRY(const StatisticValues stored, a.tables.values_of(record_a));
  if (has_elements(record_b)) return MixedDiff(b, record_b, stored, false, tolerance, context, options.any_shape).run();
  MSDUMP_TRY(const StatisticValues other, b.tables.values_of(record_b));
  return diff_statistics(stored, other, tolerance, options.any_shape);
}

}  // namespace msdump
