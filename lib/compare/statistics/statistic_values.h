// What a dump says of one tensor besides its elements, brought to one form whoever wrote it, and how exactly each number
// is known:
//
//   statistic.csv         six digits, so half a unit of the sixth (whole numbers of up to six digits and 0 are exact);
//                         mean and norm may come from the device, which adds in single precision
//   dump.json, PyTorch    max and min as they are; mean and norm in the tensor's own precision
//   dump.json, MindSpore  everything but bool through float32, or in the tensor's own half precision
//   computed by us        exact
//
// NaN: statistic.csv of 1.6 to 2.3rc leaves NaN and infinities out of max, min and mean, 2.3 and 2.4 lose a NaN of max and
// min when chunks are merged, MindSpore on a CPU loses it in dump.json; the mean, the norm and the counts tell of it.
// Dropped, because they say nothing: a norm or mean that is infinite while max and min are finite (the sum overflowed),
// and extremes of no elements (min above max). The norm of a tensor without dimensions may have been its value: it is
// taken without sign.
// Source: reference/dump-layouts-and-statistics.md 3, reference/verified-on-real-msprobe.md 2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stats/choice.h"
#include "tables/statistic_column.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

struct StatisticNumber {
  double value = 0;  // may be NaN or infinite
  double slack = 0;  // what it stands for is no further away
};

enum class ChecksumKind : uint8_t { kCrc32, kMd5, kSha1, kXor };
[[nodiscard]] std::string_view name_of(ChecksumKind kind);  // "CRC-32", ...

struct Checksum {
  ChecksumKind kind = ChecksumKind::kCrc32;
  bool widened = false;  // of bfloat16: taken of a float32 copy
  std::string text;      // lower case
};

enum class StatisticOrigin : uint8_t {
  kCsv,        // statistic.csv as MindSpore writes it
  kDeviceCsv,  // as msprobe does
  kMindSporeJson,
  kTorchJson,
  kNumpyJson,
};

enum class Extremum : uint8_t { kMax, kMin, kMean, kNorm };
inline constexpr size_t kExtrema = 4;

enum class Special : uint8_t { kNan, kPositiveInf, kNegativeInf };

struct StatisticValues {
  StatisticOrigin origin = StatisticOrigin::kCsv;
  const stats::DialectChoice* dialects = nullptr;  // kCsv: who may have written it
  DType dtype = DType::kUndefined;
  std::optional<Shape> shape;
  std::array<std::optional<StatisticNumber>, kExtrema> numbers;  // by Extremum
  std::optional<uint64_t> count, negative, positive, zero, nan, negative_inf, positive_inf;
  std::vector<Checksum> checksums;
  bool finite_only = false;          // no NaN and no infinity has entered max, min and mean
  std::string bad_number;            // the first text in a column of numbers that is none; empty: there is none
  bool mean_of_first_chunk = false;  // of a tensor of 20000 elements or more: up to 2.3.1 the mean is that of the first

  [[nodiscard]] const std::optional<StatisticNumber>& number(Extremum which) const {
    return numbers[static_cast<size_t>(which)];
  }
  [[nodiscard]] std::optional<int64_t> elements() const;
  // The root of the mean square, else the larger of |max| and |min|, else |mean|.
  [[nodiscard]] std::optional<double> scale() const;
  // Whether there are any, by a count or by what these do to the four numbers; no value when nothing tells.
  [[nodiscard]] std::optional<bool> has(Special special) const;
  [[nodiscard]] bool is_finite() const;  // something says so
  [[nodiscard]] const Checksum* find(ChecksumKind kind) const;
};

// A row of a table: its columns, and their texts as the table has them, separated by commas. Of a json's leaf: Max, Min,
// Mean, Norm and md5, in this order.
struct StoredStatistics {
  StatisticOrigin origin = StatisticOrigin::kCsv;
  std::span<const StatisticColumn> columns;
  std::string_view values;
  const stats::DialectChoice* dialects = nullptr;
};
[[nodiscard]] std::span<const StatisticColumn> json_columns();

[[nodiscard]] StatisticValues stored_values(const StoredStatistics& stored, DType dtype,
                                            const std::optional<Shape>& shape);

// What every maker of StatisticValues does last: drops what says nothing.
void drop_empty_numbers(StatisticValues& values);

}  // namespace msdump
