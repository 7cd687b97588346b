#include "compare/statistics/statistic_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dump/layouts/dump_json_kinds.h"
#include "dump/layouts/family.h"
#include "io/file.h"
#include "msprobe/dump_json.h"
#include "tables/monitor_csv.h"
#include "tables/statistic_csv.h"

namespace msdump {
namespace {

struct Range {
  double low = 0, high = 0;

  [[nodiscard]] bool is_exact() const { return low == high; }
};

Range range_of(const StatisticNumber& number) { return {number.value - number.slack, number.value + number.slack}; }

StatisticNumber number_of(const Range& range, double factor) {
  // An infinity has no distance to itself.
  if (range.is_exact() || !std::isfinite(range.low) || !std::isfinite(range.high))
    return {(std::isfinite(range.low) ? range.high : range.low) * factor, 0};
  return {(range.low + range.high) / 2 * factor, (range.high - range.low) / 2 * factor};
}

bool has_nan(std::span<const Range> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Range& part) { return std::isnan(part.low); });
}

// The maximum of a sum of tensors is at least the maximum of one plus the minima of the others.
Range largest_of_sum(std::span<const Range> max, std::span<const Range> min) {
  Range sum{-HUGE_VAL, 0};
  double least = 0;
  for (const Range& one : min) least += one.low;
  for (size_t i = 0; i < max.size(); ++i) {
    sum.high += max[i].high;
    sum.low = std::max(sum.low, least - min[i].low + max[i].low);
  }
  return {std::min(sum.low, sum.high), sum.high};
}

// The norm of a sum is bounded by the triangle inequality.
Range norm_of_sum(std::span<const Range> norms) {
  Range sum;
  for (const Range& norm : norms) sum.high += norm.high;
  for (const Range& norm : norms) sum.low = std::max(sum.low, norm.low - (sum.high - norm.high));
  return sum;
}

// The minimum of an elementwise maximum of tensors: at the minimum of one, the others are at most their maxima.
Range smallest_of_maxima(std::span<const Range> max, std::span<const Range> min) {
  Range all{-HUGE_VAL, HUGE_VAL};
  double first = -HUGE_VAL, second = -HUGE_VAL;  // the two largest, so that the largest of the others is known
  for (const Range& one : max) {
    second = std::max(second, std::min(first, one.high));
    first = std::max(first, one.high);
  }
  for (size_t i = 0; i < min.size(); ++i) {
    all.low = std::max(all.low, min[i].low);
    all.high = std::min(all.high, std::max(min[i].high, max[i].high == first ? second : first));
  }
  return {all.low, std::max(all.low, all.high)};
}

Range largest_of(std::span<const Range> ranges) {
  Range all{-HUGE_VAL, -HUGE_VAL};
  for (const Range& one : ranges) all = {std::max(all.low, one.low), std::max(all.high, one.high)};
  return all;
}

// An element is at most the largest of the minima and what each tensor has there above its own minimum.
Range mean_of_maxima(std::span<const Range> max, std::span<const Range> min, std::span<const Range> means) {
  double most = largest_of(min).high;
  for (size_t i = 0; i < means.size(); ++i) most += std::max(0.0, means[i].high - min[i].low);
  const double least = largest_of(means).low;
  return {least, std::max(least, std::min(most, largest_of(max).high))};
}

// The norm of an elementwise maximum of tensors: at least that of each of them if no element is negative.
Range norm_of_maxima(std::span<const Range> norms, std::span<const Range> min) {
  double squares = 0;
  for (const Range& norm : norms) squares += norm.high * norm.high;
  const bool positive =
      !min.empty() && std::all_of(min.begin(), min.end(), [](const Range& one) { return one.low >= 0; });
  return {positive ? largest_of(norms).low : 0, std::sqrt(squares)};
}

std::vector<Range> negated(std::span<const Range> ranges) {
  std::vector<Range> negated;
  for (const Range& range : ranges) negated.push_back({-range.high, -range.low});
  return negated;
}

// Groups the local tensors that fill the same boxes of the global tensor: partial sums, or maxima.
std::vector<std::vector<size_t>> terms_of(const TensorPieces& pieces) {
  std::vector<std::vector<std::vector<int64_t>>> places(pieces.records.size());
  for (const PieceBox& box : pieces.boxes) {
    places[box.piece].push_back(box.to);
    places[box.piece].push_back(box.size);
  }
  std::map<std::vector<std::vector<int64_t>>, std::vector<size_t>> terms;
  for (size_t i = 0; i < places.size(); ++i) terms[places[i]].push_back(i);
  std::vector<std::vector<size_t>> all;
  for (auto& [place, of_place] : terms) all.push_back(std::move(of_place));
  return all;
}

class Merger {
 public:
  Merger(const TensorPieces& pieces, std::span<const TensorNumbers> of_pieces)
      : pieces_(pieces), values_(of_pieces), terms_(terms_of(pieces)) {}

  TensorNumbers run() {
    TensorNumbers merged;
    merged.origin = values_.front().origin;
    merged.dialects = values_.front().dialects;
    merged.dtype = values_.front().dtype;
    merged.shape = pieces_.shape;
    merged.finite_only = values_.front().finite_only;
    for (const TensorNumbers& one : values_) {
      if (!one.bad_number.empty()) merged.bad_number = one.bad_number;
    }
    const auto put = [&](Extremum which, const std::optional<Range>& range) {
      if (range) merged.numbers[static_cast<size_t>(which)] = number_of(*range, pieces_.factor);
    };
    put(Extremum::kMax, extreme(Extremum::kMax, Extremum::kMin, false));
    put(Extremum::kMin, extreme(Extremum::kMin, Extremum::kMax, true));
    put(Extremum::kMean, has_maxima() ? mean_of_all_maxima() : mean());
    put(Extremum::kNorm, norm());
    if (pieces_.overlap == PieceOverlap::kNone && pieces_.factor > 0) add_counts(merged);
    return merged;
  }

 private:
  [[nodiscard]] bool has_maxima() const { return pieces_.overlap == PieceOverlap::kLargest; }

  // The ranges of the numbers of a group. Empty if one is unknown, or one of several is not finite.
  [[nodiscard]] std::vector<Range> ranges(const std::vector<size_t>& terms, Extremum which) const {
    std::vector<Range> ranges;
    for (const size_t i : terms) {
      const auto& number = values_[i].number(which);
      if (!number || (terms.size() > 1 && !std::isfinite(number->value))) return {};
      ranges.push_back(range_of(*number));
    }
    return ranges;
  }

  // The largest value, or the smallest one as the largest of the negated.
  [[nodiscard]] std::optional<Range> extreme(Extremum own, Extremum other, bool smallest) const {
    Range all{-HUGE_VAL, -HUGE_VAL};
    for (const std::vector<size_t>& terms : terms_) {
      std::vector<Range> max = ranges(terms, own), min = ranges(terms, other);
      if (max.empty() || (terms.size() > 1 && min.empty())) return std::nullopt;
      if (has_nan(max)) return max.front();
      if (terms.size() > 1 && has_maxima()) max = {smallest ? smallest_of_maxima(min, max) : largest_of(max)};
      if (smallest) {
        max = negated(max);
        min = negated(min);
      }
      const Range one = max.size() == 1 ? max.front() : largest_of_sum(max, min);
      all = {std::max(all.low, one.low), std::max(all.high, one.high)};
    }
    return smallest ? Range{-all.high, -all.low} : all;
  }

  // The mean of all elements. Padding counts as 0.
  [[nodiscard]] std::optional<Range> mean() const {
    Range sum;
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto& number = values_[i].number(Extremum::kMean);
      const auto count = values_[i].elements();
      if (!number || !count || values_[i].mean_of_first_chunk) return std::nullopt;
      const Range range = range_of(*number);
      sum.low += range.low * static_cast<double>(*count);
      sum.high += range.high * static_cast<double>(*count);
    }
    const auto count = static_cast<double>(element_count(pieces_.shape).value_or(0));
    if (count == 0) return std::nullopt;
    return Range{sum.low / count, sum.high / count};
  }

  [[nodiscard]] std::optional<Range> mean_of_all_maxima() const {
    Range sum;
    for (const std::vector<size_t>& terms : terms_) {
      const std::vector<Range> max = ranges(terms, Extremum::kMax), min = ranges(terms, Extremum::kMin),
                               means = ranges(terms, Extremum::kMean);
      const auto count = values_[terms.front()].elements();
      const bool of_part =
          std::any_of(terms.begin(), terms.end(), [&](size_t i) { return values_[i].mean_of_first_chunk; });
      if (max.empty() || min.empty() || means.empty() || !count || of_part) return std::nullopt;
      const Range mean = mean_of_maxima(max, min, means);
      sum.low += mean.low * static_cast<double>(*count);
      sum.high += mean.high * static_cast<double>(*count);
    }
    const auto count = static_cast<double>(element_count(pieces_.shape).value_or(0));
    if (count == 0) return std::nullopt;
    return Range{sum.low / count, sum.high / count};
  }

  [[nodiscard]] std::optional<Range> norm() const {
    Range squares;
    for (const std::vector<size_t>& terms : terms_) {
      const std::vector<Range> norms = ranges(terms, Extremum::kNorm);
      if (norms.empty()) return std::nullopt;
      const Range sum = terms.size() == 1 ? norms.front()
                        : has_maxima()    ? norm_of_maxima(norms, ranges(terms, Extremum::kMin))
                                          : norm_of_sum(norms);
      squares.low += std::max(0.0, sum.low) * std::max(0.0, sum.low);
      squares.high += sum.high * sum.high;
    }
    return Range{std::sqrt(squares.low), std::sqrt(squares.high)};
  }

  void add_counts(TensorNumbers& merged) const {
    using Count = std::optional<uint64_t> TensorNumbers::*;
    for (const Count count :
         {&TensorNumbers::count, &TensorNumbers::negative, &TensorNumbers::positive, &TensorNumbers::zero,
          &TensorNumbers::nan, &TensorNumbers::negative_inf, &TensorNumbers::positive_inf}) {
      uint64_t sum = 0;
      bool known = true;
      for (const TensorNumbers& one : values_) {
        known = known && (one.*count).has_value();
        sum += (one.*count).value_or(0);
      }
      if (known) merged.*count = sum;
    }
  }

  const TensorPieces& pieces_;
  const std::span<const TensorNumbers> values_;
  const std::vector<std::vector<size_t>> terms_;
};

}  // namespace

TensorNumbers merged_statistics(const TensorPieces& pieces, std::span<const TensorNumbers> of_pieces) {
  return pieces.is_plain() ? of_pieces.front() : Merger(pieces, of_pieces).run();
}

namespace {

StatisticOrigin origin_of(const MsprobeTensor& tensor) {
  if (tensor.type.starts_with("torch")) return StatisticOrigin::kTorchJson;
  return tensor.type.starts_with("numpy") ? StatisticOrigin::kNumpyJson : StatisticOrigin::kMindSporeJson;
}

// Joins the texts of a row with commas, in the buffer `into`.
std::string_view joined(const std::vector<std::string_view>& values, std::string& into) {
  into.clear();
  for (const std::string_view value : values) {
    into += value;
    into += ',';
  }
  if (!into.empty()) into.pop_back();
  return into;
}

std::string_view joined(const MsprobeTensor& tensor, std::string& into) {
  into.clear();
  for (const auto* value : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm}) {
    if (*value) into += **value;
    into += ',';
  }
  if (tensor.md5) into += *tensor.md5;
  return into;
}

}  // namespace

StatisticTables::~StatisticTables() = default;

StatisticTables::StatisticTables(const DumpIndex& index) : index_(&index) {
  for (FileId file{0}; file < index.files().size(); ++file) {
    const Family* const family = index.files()[file].family;
    if (family != nullptr && !family->has_elements()) files_.push_back(file);
  }
  tables_.resize(files_.size());
  free();
}

void StatisticTables::free() {
  for (std::unique_ptr<Table>& table : tables_) table = std::make_unique<Table>();
}

void StatisticTables::free(FileId file) { tables_[place_of(file)] = std::make_unique<Table>(); }

size_t StatisticTables::place_of(FileId file) const {
  return static_cast<size_t>(std::lower_bound(files_.begin(), files_.end(), file) - files_.begin());
}

StatisticTables::Table& StatisticTables::table(FileId file) {
  Table& found = *tables_[place_of(file)];
  std::call_once(found.once, [&] {
    Status status = read(index_->files()[file], found);
    if (!status) found.problem = std::move(status).error();
  });
  return found;
}

const stats::DialectChoice& StatisticTables::dialects() {
  std::call_once(chosen_, [&] { dialects_ = stats::choose_dialect(*index_, stats::stored_style(*index_)); });
  return dialects_;
}

Status StatisticTables::read(const IndexedFile& file, Table& table) const {
  MSDUMP_TRY(const File opened, File::open(index_->path_of(file)));
  if (file.kind == FileKind::kStatistic) {
    MSDUMP_CHECK_OK(read_csv(opened, table));
  } else if (file.kind == FileKind::kMonitor) {
    MSDUMP_CHECK_OK(read_monitor(opened, file.shown_name(), table));
  } else {
    MSDUMP_CHECK_OK(read_json(opened, file.kind, table));
  }
  const auto by_offset = [](const Row& a, const Row& b) { return a.offset < b.offset; };
  if (!std::is_sorted(table.rows.begin(), table.rows.end(), by_offset))
    std::sort(table.rows.begin(), table.rows.end(), by_offset);
  table.rows.shrink_to_fit();
  return opened.check_unchanged();
}

Status StatisticTables::read_csv(const File& file, Table& table) {
  MSDUMP_TRY(StatisticReader reader, StatisticReader::open(file));
  std::string text;
  for (;;) {
    const auto row = reader.next();
    if (!row) continue;  // reported when the table was listed
    if (*row == nullptr) return {};
    if (table.headers.size() != reader.headers_read()) {
      const StatisticOrigin origin = reader.header().msprobe ? StatisticOrigin::kDeviceCsv : StatisticOrigin::kCsv;
      table.headers.resize(reader.headers_read(), {reader.header().columns, origin});
    }
    table.add(table.headers.size() - 1, (*row)->offset, joined((*row)->values, text));
  }
}

Status StatisticTables::read_monitor(const File& file, std::string_view name, Table& table) {
  MSDUMP_TRY(MonitorReader reader, MonitorReader::open(file));
  const auto of_name = parse_monitor_name(name);
  const auto origin = of_name && of_name->second ? StatisticOrigin::kTorchJson : StatisticOrigin::kMonitorCsv;
  table.headers.push_back({reader.columns(), origin});
  std::string text;
  for (;;) {
    const auto row = reader.next();
    if (!row) continue;  // reported when the table was listed
    if (*row == nullptr) return {};
    table.add(0, (*row)->offset, joined((*row)->values, text));
  }
}

Status StatisticTables::read_json(const File& file, FileKind kind, Table& table) {
  MSDUMP_TRY(const DumpJson json, read_like_dump_json(kind, file));
  table.rows.reserve(json.tensors.size());
  std::string text;
  for (const MsprobeTensor& tensor : json.tensors) {
    const StatisticOrigin origin = kind == FileKind::kTensorLog ? StatisticOrigin::kTorchLog : origin_of(tensor);
    const auto header = std::find_if(table.headers.begin(), table.headers.end(),
                                     [&](const Header& one) { return one.origin == origin; });
    const auto place = static_cast<size_t>(header - table.headers.begin());
    if (header == table.headers.end())
      table.headers.push_back({{json_columns().begin(), json_columns().end()}, origin});
    table.add(place, tensor.offset, joined(tensor, text));
  }
  return {};
}

Result<TensorNumbers> StatisticTables::values_of(const TensorRecord& tensor) {
  if (const TensorPieces* const pieces = tensor.pieces()) {
    std::vector<TensorNumbers> of_pieces;
    for (const TensorRecord* const piece : pieces->records) {
      MSDUMP_TRY(TensorNumbers values, values_of(*piece));
      of_pieces.push_back(std::move(values));
    }
    return merged_statistics(*pieces, of_pieces);
  }
  Table& found = table(tensor.table);
  if (found.problem) return fail(*found.problem);
  const auto is_it = [&](size_t row) { return row < found.rows.size() && found.rows[row].offset == tensor.row_offset; };
  size_t place = tensor.item;  // index of a row without a file of its own
  if (!is_it(place)) {
    const auto row = std::lower_bound(found.rows.begin(), found.rows.end(), tensor.row_offset,
                                      [](const Row& one, uint64_t offset) { return one.offset < offset; });
    place = static_cast<size_t>(row - found.rows.begin());
  }
  if (!is_it(place)) {
    return fail(make_error(ErrorCode::kChangedWhileReading, "the row is not there any more")
                    .with_path(index_->path_of(index_->files()[tensor.table]))
                    .with_offset(tensor.row_offset));
  }
  const Row* const row = &found.rows[place];
  const Header& header = found.headers[row->header];
  StoredStatistics stored{header.origin, header.columns, {row->text, row->size}, nullptr};
  if (header.origin == StatisticOrigin::kCsv) stored.dialects = &dialects();
  std::optional<Shape> shape;
  if (tensor.shape != nullptr) shape = *tensor.shape;
  return stored_numbers(stored, tensor.name.dtype, shape);
}

}  // namespace msdump
