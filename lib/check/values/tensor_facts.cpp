#include "check/values/tensor_facts.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "kernels/reduce/reduce.h"
#include "parts/facts.h"
#include "stats/compute.h"
#include "tensor/dtype.h"

namespace msdump::check {
namespace {

constexpr double kLargestFloat16 = 65504, kLargestBfloat16 = 0x1.FEp127, kLargestE5m2 = 57344, kLargestE4m3 = 448,
                 kLargestHifloat8 = 32768;

uint8_t rank_of(const Shape& shape) { return static_cast<uint8_t>(std::min<size_t>(shape.size(), 255)); }

std::optional<double> finite_number(const std::optional<StatisticNumber>& number) {
  return number && std::isfinite(number->value) ? std::optional(number->value) : std::nullopt;
}

const Checksum* exact_checksum(const StatisticValues& values) {
  for (const Checksum& checksum : values.checksums) {
    if (checksum.kind != ChecksumKind::kXor) return &checksum;  // an xor is the same for too many tensors
  }
  return nullptr;
}

// 0 without numbers. Mean and norm count with some digits: two ranks may add up the same elements in other orders.
uint64_t digest_of(const StatisticValues& values) {
  uint64_t digest = static_cast<uint64_t>(values.elements().value_or(0)) + 1;
  if (const Checksum* const checksum = exact_checksum(values)) return mix_hash(digest, text_hash(checksum->text));
  bool any = false;
  for (size_t i = 0; i < kExtrema; ++i) {
    const auto& number = values.numbers[i];
    any = any || number.has_value();
    const bool is_sum = static_cast<Extremum>(i) == Extremum::kMean || static_cast<Extremum>(i) == Extremum::kNorm;
    const auto rounded =
        static_cast<uint64_t>(std::bit_cast<uint32_t>(static_cast<float>(number ? number->value : 0)) >> 12);
    const uint64_t exact = std::bit_cast<uint64_t>((number ? number->value : 0) + 0.0);  // -0 is 0
    digest = mix_hash(digest, !number ? 1 : is_sum ? rounded : exact);
  }
  return any ? digest : 0;
}

}  // namespace

std::optional<uint64_t> TensorFacts::finite() const {
  if (!elements) return std::nullopt;
  if (is_finite()) return elements;
  if (!nan || !positive_inf || !negative_inf) return std::nullopt;
  return *elements - std::min(*elements, *nan + *positive_inf + *negative_inf);
}

std::optional<double> TensorFacts::root_mean_square() const {
  const auto count = finite();
  if (!l2norm || count.value_or(0) == 0) return std::nullopt;
  return *l2norm / std::sqrt(static_cast<double>(*count));
}

std::optional<double> TensorFacts::deviation() const {
  const auto rms = root_mean_square();
  if (!rms || !mean) return std::nullopt;
  return std::sqrt(std::max(0.0, (*rms - *mean) * (*rms + *mean)));
}

std::optional<bool> TensorFacts::all_zero() const {
  if (!is_finite()) return false;
  if (zero && elements) return *zero == *elements;
  if (min && max) return *min == 0 && *max == 0;
  if (l2norm) return *l2norm == 0;
  return std::nullopt;
}

std::optional<bool> TensorFacts::constant() const {
  if (from == From::kElements && finite() == 0U) return true;
  if (min && max) return *min == *max;
  return std::nullopt;
}

TensorFacts facts_of(const stats::TensorStatistics& statistics) {
  TensorFacts facts;
  facts.dtype = statistics.dtype;
  facts.rank = rank_of(statistics.shape);
  if (!statistics.supported) return facts;
  facts.from = TensorFacts::From::kElements;
  facts.elements = statistics.count;
  if (!statistics.md5.empty()) facts.digest = mix_hash(text_hash(statistics.md5), statistics.count);
  facts.digest_is_exact = true;
  facts.nan = statistics.nan;
  facts.positive_inf = statistics.positive_inf;
  facts.negative_inf = statistics.negative_inf;
  facts.zero = statistics.zero;
  facts.has_nan = statistics.nan > 0;
  facts.has_positive_inf = statistics.positive_inf > 0;
  facts.has_negative_inf = statistics.negative_inf > 0;
  if (statistics.codes) {
    facts.subnormal = statistics.codes->subnormal;
    facts.positive_edge = statistics.codes->positive_edge;
    facts.negative_edge = statistics.codes->negative_edge;
  }
  if (facts.finite().value_or(0) == 0) return facts;
  facts.min = statistics.min;
  facts.max = statistics.max;
  facts.mean = statistics.avg;
  facts.l2norm = statistics.l2norm;
  facts.mean_abs = statistics.mean_abs;
  return facts;
}

TensorFacts facts_of(const StatisticValues& values) {
  TensorFacts facts;
  facts.from = TensorFacts::From::kStatistics;
  facts.digest = digest_of(values);
  facts.digest_is_exact = exact_checksum(values) != nullptr;
  facts.dtype = values.dtype;
  if (values.shape) facts.rank = rank_of(*values.shape);
  if (const auto elements = values.elements()) facts.elements = static_cast<uint64_t>(*elements);
  facts.min = finite_number(values.number(Extremum::kMin));
  facts.max = finite_number(values.number(Extremum::kMax));
  facts.mean = finite_number(values.number(Extremum::kMean));
  facts.l2norm = finite_number(values.number(Extremum::kNorm));
  facts.nan = values.nan;
  facts.positive_inf = values.positive_inf;
  facts.negative_inf = values.negative_inf;
  facts.zero = values.zero;
  facts.has_nan = values.has(Special::kNan).value_or(false);
  facts.has_positive_inf = values.has(Special::kPositiveInf).value_or(false);
  facts.has_negative_inf = values.has(Special::kNegativeInf).value_or(false);
  const auto& mean = values.number(Extremum::kMean);
  const bool only_mean = mean && !values.number(Extremum::kMin) && !values.number(Extremum::kMax) &&
                         !values.number(Extremum::kNorm) && !values.nan;
  if (only_mean && std::isnan(mean->value)) facts.has_nan = true;
  if (only_mean && std::isinf(mean->value)) (mean->value > 0 ? facts.has_positive_inf : facts.has_negative_inf) = true;
  // At least one. The six digits of statistic.csv distinguish 65504 from its neighbours, but not a larger edge.
  if (const auto largest = largest_of(values.dtype);
      largest && (*largest < 1e5 || values.origin > StatisticOrigin::kDeviceCsv)) {
    if (facts.max == *largest) facts.positive_edge = 1;
    if (facts.min == -*largest) facts.negative_edge = 1;
  }
  const bool any =
      std::any_of(values.numbers.begin(), values.numbers.end(), [](const auto& number) { return number.has_value(); });
  if (!any && !facts.nan && !facts.positive_inf && !facts.negative_inf) facts.from = TensorFacts::From::kNothing;
  return facts;
}

bool is_floating(DType dtype) {
  const std::string_view name = name_of(dtype);
  for (const std::string_view word : {"float", "complex", "hif"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool is_eight_bit_float(DType dtype) {
  return dtype == DType::kFloat8E5m2 || dtype == DType::kFloat8E4m3fn || dtype == DType::kHifloat8;
}

std::optional<double> largest_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return kLargestFloat16;
    case DType::kBfloat16: return kLargestBfloat16;
    case DType::kFloat32: return double{FLT_MAX};
    case DType::kFloat64: return DBL_MAX;
    case DType::kFloat8E5m2: return kLargestE5m2;
    case DType::kFloat8E4m3fn: return kLargestE4m3;
    case DType::kHifloat8: return kLargestHifloat8;
    default: return std::nullopt;
  }
}

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
