#include "compare/dumps/parameter_verdict.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/parameters/nearest_view.h"
#include "compare/match/parameters/parameter_views.h"
#include "compare/pair/tensor_slabs.h"

namespace msdump {
namespace {

// A distance below which values are related: no other order of them is looked for.
constexpr double kRelated = 0.5;

bool has_rows(const TensorRecord& record) {
  return record.shape != nullptr && record.view == nullptr && record.has_elements && !record.broken &&
         !record.shape->empty() && element_count(*record.shape).value_or(0) > 0;
}

TensorRecord rows_of(const TensorRecord& record, const TensorView& view) {
  TensorRecord rows = record;
  rows.view = &view;
  rows.shape = &view.shape;
  return rows;
}

Result<bool> is_all_zero(const DumpIndex& index, const TensorRecord& record, const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(index, record, {}));
  bool zero = true;
  MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](std::span<const std::byte> bytes, int64_t) {
    zero = std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{0}; });
    return zero;
  }));
  return zero;
}

Status explain_rows(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b, const TensorRecord& record_b,
                    const Tolerance& tolerance, const RunContext& context, TensorDiff& diff) {
  const Shape &shape_a = *record_a.shape, &shape_b = *record_b.shape;
  const int64_t common = std::min(shape_a[0], shape_b[0]);
  const TensorView first_a = first_rows(shape_a, 0, common), first_b = first_rows(shape_b, 0, common);
  MSDUMP_TRY(const TensorDiff rows,
             diff_records(a, rows_of(record_a, first_a), b, rows_of(record_b, first_b), tolerance, context));
  const bool more_in_a = shape_a[0] > common;
  const TensorRecord& longer = more_in_a ? record_a : record_b;
  const int64_t more = (*longer.shape)[0] - common;
  const TensorView further = first_rows(*longer.shape, common, more);
  MSDUMP_TRY(const bool zero, is_all_zero((more_in_a ? a : b).index, rows_of(longer, further), context.cancel));
  diff.reason +=
      fmt::format("; {} in the {}{}; the first {}: {}", plural(static_cast<uint64_t>(more), "more row"),
                  more_in_a ? "candidate" : "reference", zero ? ", all 0" : "", common, name_of(rows.verdict));
  if (const auto error = rows.error(); error && is_difference(rows.verdict))
    diff.reason += fmt::format(" (relative error {:.3g})", *error);
  return {};
}

Status explain_order(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b, const TensorRecord& record_b,
                     TensorDiff& diff) {
  const std::vector<TensorRecord> of_a = {record_a}, of_b = {record_b};
  ParameterValues values_a(a.index, of_a), values_b(b.index, of_b);
  for (const auto views_of : {&permuted_views, &regrouped_views}) {
    const std::vector<NamedView> views = views_of(*record_a.shape, *record_b.shape);
    const auto found = nearest_view({values_a, 0}, {values_b, 0}, views);
    for (ParameterValues* const values : {&values_a, &values_b}) {
      if (const std::vector<Error> failures = values->failures().all(); !failures.empty())
        return fail(failures.front());
    }
    if (!found) continue;
    diff.reason += fmt::format("{}the values are those of the reference {}", diff.reason.empty() ? "" : "; ",
                               views[found->place].text);
    break;
  }
  return {};
}

}  // namespace

Status explain_parameters(const DumpSide& a, const TensorRecord& record_a, const DumpSide& b,
                          const TensorRecord& record_b, const Tolerance& tolerance, const RunContext& context,
                          TensorDiff& diff) {
  if (!has_rows(record_a) || !has_rows(record_b)) return {};
  const Shape &shape_a = *record_a.shape, &shape_b = *record_b.shape;
  const bool other_rows = shape_a.size() == shape_b.size() &&
                          std::equal(shape_a.begin() + 1, shape_a.end(), shape_b.begin() + 1) &&
                          std::max(shape_a[0], shape_b[0]) < 2 * std::min(shape_a[0], shape_b[0]);
  if (diff.verdict == Verdict::kShape && other_rows)
    return explain_rows(a, record_a, b, record_b, tolerance, context, diff);
  if (diff.verdict == Verdict::kDiffer && !diff.by_statistics && diff.metrics.relative_l2.value_or(0) > kRelated)
    return explain_order(a, record_a, b, record_b, diff);
  return {};
}

}  // namespace msdump
