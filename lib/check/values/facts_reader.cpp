#include "check/values/facts_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "kernels/reduce/reduce.h"
#include "parts/fact_store.h"
#include "stats/compute.h"
#include "stats/known_statistics.h"
#include "tensor/dtype_kind.h"

namespace msdump::check {
namespace {

constexpr int64_t kSlabElements = int64_t{1} << 16;

Error bad_row(const StatisticValues& values, const TensorRecord& tensor) {
  return make_error(ErrorCode::kBadCsv, "'{}' is not a number", excerpt(values.bad_number))
      .with_tensor(fmt::format("{} {} {}", tensor.name.op_name, name_of(tensor.name.io), tensor.name.slot))
      .with_offset(tensor.row_offset);
}

stats::ComputeOptions options_for(const FactsWanted& wanted) {
  stats::ComputeOptions options;
  options.honest = options.finite = true;
  options.wanted.sum = options.wanted.squares = options.wanted.extremes = options.wanted.counts = true;
  options.wanted.codes = true;
  options.wanted.mean_abs = wanted.mean_abs;
  options.wanted.md5 = wanted.digests;
  return options;
}

// Of complex numbers, their real and imaginary parts together.
struct ComplexParts {
  bool fits = false;      // the file holds such numbers
  uint64_t elements = 0;  // of which the parts were counted
  kernels::ChunkStatistics state;
};
void fields(auto& visit, FieldsOf<ComplexParts> auto& value) { MSDUMP_FIELDS(fits, elements, state); }

Result<ComplexParts> complex_parts(const DumpIndex& index, const TensorRecord& record, DType part,
                                   const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor host, HostTensor::open(index, record, {}));
  if (part_of(host.dtype()) != part) return ComplexParts();
  kernels::ReduceRule rule;
  rule.finite_only = true;
  kernels::ChunkStatistics state = kernels::start_statistics(rule);
  std::vector<std::byte> slab(static_cast<size_t>(std::min(kSlabElements, host.count())) * host.element_bytes());
  for (int64_t first = 0; first < host.count(); first += kSlabElements) {
    MSDUMP_CHECK_OK(cancel.check());
    const int64_t count = std::min(kSlabElements, host.count() - first);
    MSDUMP_CHECK_OK(host.read(first, count, slab.data()));
    const kernels::ReduceLane lane{part, slab.data(), 2 * count, &state};
    kernels::reduce({&lane, 1}, rule);
  }
  MSDUMP_CHECK_OK(host.check_unchanged());
  return ComplexParts{true, static_cast<uint64_t>(host.count()), state};
}

}  // namespace

FactsReader::FactsReader(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const FactsWanted& wanted)
    : index_(&index),
      tensors_(&tensors),
      tables_(index),
      wanted_(wanted),
      facts_(tensors.size()),
      read_(tensors.size(), false) {}

void FactsReader::limit_to(const std::vector<bool>& tensors) {
  for (size_t i = 0; i < read_.size(); ++i) read_[i] = read_[i] || !tensors[i];
}

Status FactsReader::read_all(const RunContext& context) {
  std::vector<uint32_t> all(tensors_->size());
  std::iota(all.begin(), all.end(), 0U);
  return read(all, context);
}

Status FactsReader::read(std::span<const uint32_t> tensors, const RunContext& context) {
  std::vector<uint32_t> with_elements, in_tables;
  for (const uint32_t tensor : tensors) {
    if (read_[tensor]) continue;
    read_[tensor] = true;
    const TensorRecord& record = (*tensors_)[tensor];
    // A table may have a row of a tensor whose file cannot be read.
    if (record.broken && record.table == kNoTable) continue;
    ++count_read_;
    if (record.has_elements && !record.broken) {
      with_elements.push_back(tensor);
    } else if (record.table != kNoTable) {
      in_tables.push_back(tensor);
    }
  }
  read_elements(with_elements, context);
  read_tables(in_tables, context);
  if (!distrusted_.empty()) {
    drop_mislabelled(with_elements);
    drop_mislabelled(in_tables);
  }
  return context.cancel.check();
}

void FactsReader::read_elements(const std::vector<uint32_t>& tensors, const RunContext& context) {
  std::vector<stats::ComputeItem> items;
  items.reserve(tensors.size());
  for (const uint32_t tensor : tensors) items.push_back({&(*tensors_)[tensor]});
  stats::compute(*index_, items, options_for(wanted_), context,
                 [&](size_t item, Result<stats::TensorStatistics>&& statistics) {
                   const uint32_t tensor = tensors[item];
                   if (!statistics) return keep_failure(tensor, std::move(statistics).error());
                   TensorFacts& facts = facts_[tensor];
                   facts = facts_of(*statistics);
                   facts.shape = shapes_.shape(shapes_.number_of(statistics->shape));
                   facts.bytes = statistics->stored_bytes;
                   if (facts.dtype == DType::kUndefined) facts.dtype = (*tensors_)[tensor].name.dtype;
                   if (statistics->supported) return;
                   Status parts = read_parts(tensor, context);
                   if (!parts) keep_failure(tensor, std::move(parts).error());
                 });
}

// For complex numbers, which have no statistics.
Status FactsReader::read_parts(uint32_t tensor, const RunContext& context) {
  const DType dtype = facts_[tensor].dtype, part = part_of(dtype);
  if (part == dtype || dtype == DType::kComplex32) return {};
  const TensorRecord& record = (*tensors_)[tensor];
  MSDUMP_TRY(const ComplexParts parts,
             recorded<ComplexParts>(context.facts, {FactKind::kComplexParts, record.file, record.item},
                                    [&] { return complex_parts(*index_, record, part, context.cancel); }));
  if (!parts.fits) return {};
  const kernels::ChunkStatistics& state = parts.state;
  TensorFacts& facts = facts_[tensor];
  facts.from = TensorFacts::From::kElements;
  facts.elements = parts.elements;
  facts.has_nan = state.nan > 0;
  facts.has_positive_inf = state.positive_inf > 0;
  facts.has_negative_inf = state.negative_inf > 0;
  if (state.entered == 0) return {};
  facts.min = state.min;
  facts.max = state.max;
  facts.mean = state.sum / static_cast<double>(state.entered);
  facts.l2norm = std::sqrt(state.squares);
  return {};
}

void FactsReader::read_tables(const std::vector<uint32_t>& tensors, const RunContext& context) {
  constexpr int64_t kPiece = 1024;
  const auto count = static_cast<int64_t>(tensors.size());
  using Values = std::vector<Result<StatisticValues>>;
  context.pool.ordered_for((count + kPiece - 1) / kPiece,
                           [&](int64_t piece) {
                             Values values;
                             for (int64_t i = piece * kPiece; i < std::min((piece + 1) * kPiece, count); ++i) {
                               if (context.cancel.cancelled()) break;
                               values.push_back(tables_.values_of((*tensors_)[tensors[static_cast<size_t>(i)]]));
                             }
                             return values;
                           },
                           [&](int64_t piece, Values&& values) {
                             for (size_t i = 0; i < values.size(); ++i) {
                               const uint32_t tensor = tensors[static_cast<size_t>(piece * kPiece) + i];
                               if (values[i] && !values[i]->bad_number.empty()) {
                                 keep_failure(tensor, bad_row(*values[i], (*tensors_)[tensor]));
                               } else if (values[i]) {
                                 facts_[tensor] = facts_of(*values[i]);
                                 count_blind_ += facts_[tensor].from == TensorFacts::From::kNothing ? 1U : 0U;
                               } else {
                                 keep_failure(tensor, std::move(values[i]).error());
                               }
                             }
                           });
}

void FactsReader::drop_mislabelled(std::span<const uint32_t> tensors) {
  for (const uint32_t tensor : tensors) {
    const bool wrong = distrusted_[tensor] && facts_[tensor].known() && facts_[tensor].dtype == DType::kFloat16;
    if (!wrong) continue;
    TensorFacts unknown;
    unknown.dtype = DType::kFloat16;
    unknown.shape = facts_[tensor].shape;
    unknown.bytes = facts_[tensor].bytes;
    facts_[tensor] = unknown;
    ++count_mislabelled_;
  }
}

void FactsReader::keep_failure(uint32_t tensor, Error&& error) {
  if (error.code == ErrorCode::kCancelled) return;
  --count_read_;
  const TensorRecord& record = (*tensors_)[tensor];
  if (error.path.empty()) error.path = index_->path_of(index_->files()[record.file]);
  failures_.push_back(std::move(error));
}

}  // namespace msdump::check
