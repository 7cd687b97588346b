#include "check/values/tensor_facts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "kernels/reduce/reduce.h"
#include "stats/compute.h"
#include "tensor/dtype.h"

namespace msdump::check {
namespace {

uint8_t rank_of(const Shape& shape) { return static_cast<uint8_t>(std::min<size_t>(shape.size(), 255)); }

const Checksum* exact_checksum(const TensorNumbers& values) {
  for (const Checksum& checksum : values.checksums) {
    if (!is_weak(checksum.kind)) return &checksum;
  }
  return nullptr;
}

// Hash of rounded numbers; 0 without numbers. Two ranks may add up the same elements in another order, so mean and norm
// count with few digits.
uint64_t digest_of(const TensorNumbers& values) {
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

uint64_t digest_of_elements(const TensorNumbers& numbers) {
  const Checksum* const md5 = numbers.find(ChecksumKind::kMd5);
  return md5 == nullptr ? 0 : mix_hash(text_hash(md5->text), numbers.count.value_or(0));
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

TensorFacts facts_of(const TensorNumbers& numbers) {
  TensorFacts facts;
  const bool of_elements = numbers.origin == StatisticOrigin::kElements;
  const auto is_known = [](const auto& number) { return number.has_value(); };
  const auto number = [&](Extremum which) {
    const auto& known = numbers.number(which);
    return known && (of_elements || std::isfinite(known->value)) ? std::optional(known->value) : std::nullopt;
  };
  facts.dtype = numbers.dtype;
  facts.rank = rank_of(numbers.shape.value_or(Shape()));
  if (of_elements && !numbers.count) return facts;  // a dtype without statistics
  const bool known = numbers.nan || numbers.positive_inf || numbers.negative_inf ||
                     std::any_of(numbers.numbers.begin(), numbers.numbers.end(), is_known);
  if (known) facts.from = of_elements ? TensorFacts::From::kElements : TensorFacts::From::kStatistics;
  facts.digest = of_elements ? digest_of_elements(numbers) : digest_of(numbers);
  facts.digest_is_exact = of_elements || exact_checksum(numbers) != nullptr;
  const auto in_table = numbers.elements();
  if (of_elements || in_table) facts.elements = of_elements ? *numbers.count : static_cast<uint64_t>(*in_table);
  facts.nan = numbers.nan;
  facts.positive_inf = numbers.positive_inf;
  facts.negative_inf = numbers.negative_inf;
  facts.zero = numbers.zero;
  facts.has_nan = numbers.has(Special::kNan).value_or(false);
  facts.has_positive_inf = numbers.has(Special::kPositiveInf).value_or(false);
  facts.has_negative_inf = numbers.has(Special::kNegativeInf).value_or(false);
  const auto& mean = numbers.number(Extremum::kMean);
  const bool only_mean = mean && !numbers.number(Extremum::kMin) && !numbers.number(Extremum::kMax) &&
                         !numbers.number(Extremum::kNorm) && !numbers.nan;
  if (only_mean && std::isnan(mean->value)) facts.has_nan = true;
  if (only_mean && std::isinf(mean->value)) (mean->value > 0 ? facts.has_positive_inf : facts.has_negative_inf) = true;
  if (!of_elements || facts.finite().value_or(0) > 0) {
    facts.min = number(Extremum::kMin);
    facts.max = number(Extremum::kMax);
    facts.mean = number(Extremum::kMean);
    facts.l2norm = number(Extremum::kNorm);
    facts.mean_abs = numbers.mean_abs;
  }
  if (numbers.codes) {
    facts.subnormal = numbers.codes->subnormal;
    facts.positive_edge = numbers.codes->positive_edge;
    facts.negative_edge = numbers.codes->negative_edge;
  }
  // An extreme that equals the edge counts as one element. The six digits of statistic.csv distinguish 65504 from its
  // neighbours, but not a larger edge.
  if (const auto largest = largest_of(numbers.dtype);
      !of_elements && largest && (*largest < 1e5 || numbers.origin > StatisticOrigin::kDeviceCsv)) {
    if (facts.max == *largest) facts.positive_edge = 1;
    if (facts.min == -*largest) facts.negative_edge = 1;
  }
  return facts;
}

bool is_floating(DType dtype) {
  const DTypeKind kind = info(dtype).traits.kind;
  return kind == DTypeKind::kFloat || kind == DTypeKind::kComplex;
}

bool is_eight_bit_float(DType dtype) { return info(dtype).bits == 8 && float_limits(dtype).has_value(); }

std::optional<double> largest_of(DType dtype) {
  const auto limits = float_limits(dtype);
  return limits ? std::optional(limits->largest) : std::nullopt;
}

namespace {

constexpr int64_t kSlabElements = int64_t{1} << 16;

Error bad_row(const TensorNumbers& values, const TensorRecord& tensor) {
  return make_error(ErrorCode::kBadCsv, "'{}' is not a number", excerpt(values.bad_number))
      .with_tensor(fmt::format("{} {} {}", tensor.name.op_name, name_of(tensor.name.io), tensor.name.slot))
      .with_offset(tensor.row_offset);
}

stats::ComputeOptions options_for(const FactsWanted& wanted) {
  stats::ComputeOptions options;
  options.exact = options.finite_only = true;
  options.wanted.sum = options.wanted.squares = options.wanted.extremes = options.wanted.counts = true;
  options.wanted.codes = true;
  options.wanted.mean_abs = wanted.mean_abs;
  options.wanted.md5 = wanted.digests;
  return options;
}

// Facts of complex numbers: of their real and imaginary parts together.
struct ComplexParts {
  bool fits = false;      // the file holds such numbers
  uint64_t elements = 0;  // of which the parts were counted
  kernels::ChunkStatistics state;
};

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
      options_(options_for(wanted)),
      facts_(tensors.size()),
      read_(tensors.size(), false) {}

void FactsReader::limit_to(const std::vector<bool>& tensors) {
  for (size_t i = 0; i < read_.size(); ++i) read_[i] = read_[i] || !tensors[i];
}

Status FactsReader::read_all(const RunContext& context) {
  std::vector<TensorId> all(tensors_->size());
  std::iota(all.begin(), all.end(), TensorId(0));
  Status status = read(all, context, true);
  tables_.free();
  return status;
}

Status FactsReader::read(std::span<const TensorId> tensors, const RunContext& context) {
  return read(tensors, context, false);
}

Status FactsReader::read(std::span<const TensorId> tensors, const RunContext& context, bool once) {
  std::vector<TensorId> with_elements, in_tables;
  for (const TensorId tensor : tensors) {
    if (read_[tensor]) continue;
    read_[tensor] = true;
    const TensorRecord& record = (*tensors_)[tensor];
    // A table may have a row of a tensor whose file cannot be read.
    if (record.broken && record.table == kNoId) continue;
    ++count_read_;
    if (record.has_elements && !record.broken) {
      with_elements.push_back(tensor);
    } else if (record.table != kNoId) {
      in_tables.push_back(tensor);
    }
  }
  read_elements(with_elements, context);
  read_tables(in_tables, context, once);
  if (!distrusted_.empty()) {
    drop_mislabelled(with_elements);
    drop_mislabelled(in_tables);
  }
  return context.cancel.check();
}

// Digests go abreast, and so over many tensors at a time.
bool FactsReader::wants(TensorId tensor) {
  const std::lock_guard lock(mutex_);
  return !read_[tensor] && !wanted_.digests;
}

void FactsReader::take(TensorId tensor, const TensorNumbers& numbers) {
  const std::lock_guard lock(mutex_);
  if (read_[tensor] || !numbers.count) return;
  read_[tensor] = true;
  ++count_read_;
  keep(tensor, numbers);
  if (!distrusted_.empty()) drop_mislabelled({&tensor, 1});
  if (scans_ == nullptr) return;
  scans_->add_bytes(numbers.stored_bytes);
  scans_->unit_done(index_->files()[(*tensors_)[tensor].file].name);
}

void FactsReader::begin_scans(ProgressSink* progress) {
  scans_ = progress;
  if (progress == nullptr) return;
  uint64_t units = 0, bytes = 0;
  for (TensorId tensor{0}; tensor < tensors_->size(); ++tensor) {
    const TensorRecord& record = (*tensors_)[tensor];
    if (read_[tensor] || !record.has_elements || record.broken) continue;
    ++units;
    bytes += record.bytes.value_or(index_->files()[record.file].size);
  }
  progress->start(units, bytes);
}

void FactsReader::end_scans() {
  if (scans_ != nullptr) scans_->stop();
  scans_ = nullptr;
}

void FactsReader::keep(TensorId tensor, const TensorNumbers& numbers) {
  TensorFacts& facts = facts_[tensor];
  facts = facts_of(numbers);
  facts.shape = shapes_.shape(shapes_.number_of(numbers.shape.value_or(Shape())));
  facts.bytes = numbers.stored_bytes;
  if (facts.dtype == DType::kUndefined) facts.dtype = (*tensors_)[tensor].name.dtype;
}

void FactsReader::read_elements(const std::vector<TensorId>& tensors, const RunContext& context) {
  std::vector<stats::ComputeItem> items;
  items.reserve(tensors.size());
  for (const TensorId tensor : tensors) items.push_back({&(*tensors_)[tensor]});
  stats::compute(*index_, items, options_, context, [&](size_t item, Result<TensorNumbers>&& statistics) {
    const TensorId tensor = tensors[item];
    if (!statistics) return keep_failure(tensor, std::move(statistics).error());
    keep(tensor, *statistics);
    if (statistics->count) return;
    Status parts = read_parts(tensor, context);
    if (!parts) keep_failure(tensor, std::move(parts).error());
  });
}

// Reads complex numbers, which have no statistics.
Status FactsReader::read_parts(TensorId tensor, const RunContext& context) {
  const DType dtype = facts_[tensor].dtype, part = part_of(dtype);
  if (part == dtype || dtype == DType::kComplex32) return {};
  const TensorRecord& record = (*tensors_)[tensor];
  MSDUMP_TRY(const ComplexParts parts, complex_parts(*index_, record, part, context.cancel));
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

void FactsReader::read_tables(const std::vector<TensorId>& tensors, const RunContext& context, bool once) {
  constexpr int64_t kPiece = 1024;
  const auto count = static_cast<int64_t>(tensors.size());
  std::map<FileId, TensorId> last_of_table;
  for (size_t i = 0; once && i < tensors.size(); ++i) last_of_table[(*tensors_)[tensors[i]].table] = tensors[i];
  using Values = std::vector<Result<TensorNumbers>>;
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
                               const TensorId tensor = tensors[static_cast<size_t>(piece * kPiece) + i];
                               if (values[i] && !values[i]->bad_number.empty()) {
                                 keep_failure(tensor, bad_row(*values[i], (*tensors_)[tensor]));
                               } else if (values[i]) {
                                 facts_[tensor] = facts_of(*values[i]);
                                 count_blind_ += facts_[tensor].from == TensorFacts::From::kNothing ? 1U : 0U;
                               } else {
                                 keep_failure(tensor, std::move(values[i]).error());
                               }
                               const FileId table = (*tensors_)[tensor].table;
                               if (once && last_of_table[table] == tensor) tables_.free(table);
                             }
                           });
}

void FactsReader::drop_mislabelled(std::span<const TensorId> tensors) {
  for (const TensorId tensor : tensors) {
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

void FactsReader::keep_failure(TensorId tensor, Error&& error) {
  if (error.code == ErrorCode::kCancelled) return;
  --count_read_;
  const TensorRecord& record = (*tensors_)[tensor];
  if (error.path.empty()) error.path = index_->path_of(index_->files()[record.file]);
  failures_.push_back(std::move(error));
}

}  // namespace msdump::check
