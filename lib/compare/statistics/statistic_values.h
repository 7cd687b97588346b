// The statistics that a dump has of one tensor, in one form for all writers, and how exactly each number is known:
//
//   statistic.csv         six digits, so half a unit of the sixth (whole numbers of up to six digits and 0 are exact);
//                         mean and norm may come from the device, which adds in single precision
//   dump.json, PyTorch    max and min as they are; mean and norm in the tensor's own precision
//   dump.json, MindSpore  everything but bool through float32, or in the tensor's own half precision
//   msprobe's monitor     as of dump.json, PyTorch; the first one rounds to six decimals
//   computed by msdump    exact
//
// NaN: statistic.csv of 1.6 to 2.3rc leaves NaN and infinities out of max, min and mean, 2.3 and 2.4 lose a NaN of max and
// min when chunks are merged, MindSpore on a CPU loses it in dump.json; the mean, the norm and the counts show it.
// Dropped as meaningless: a norm or mean that is infinite while max and min are finite (the sum overflowed), and extremes
// of no elements (min above max). The norm of a tensor without dimensions may have been its value: its sign is ignored.
// Source: reference/dump-layouts-and-statistics.md 3, reference/verified-on-real-msprobe.md 2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/run_context.h"
#include "stats/dialect.h"
#include "tables/statistic_csv.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

struct StatisticNumber {
  double value = 0;  // may be NaN or infinite
  double slack = 0;  // the true value is at most this far away
};

enum class ChecksumKind : uint8_t { kCrc32, kMd5, kSha1, kXor };
[[nodiscard]] std::string_view name_of(ChecksumKind kind);  // "CRC-32", ...

struct Checksum {
  ChecksumKind kind = ChecksumKind::kCrc32;
  bool widened = false;  // for bfloat16: computed from a float32 copy
  std::string text;      // lower case
};

enum class StatisticOrigin : uint8_t {
  kCsv,        // statistic.csv as MindSpore writes it
  kDeviceCsv,  // statistic.csv as msprobe writes it
  kMindSporeJson,
  kTorchJson,
  kNumpyJson,
  kMonitorCsv,  // of msprobe's first monitor; the second one's numbers are those of kTorchJson
};

enum class Extremum : uint8_t { kMax, kMin, kMean, kNorm };
inline constexpr size_t kExtrema = 4;

enum class Special : uint8_t { kNan, kPositiveInf, kNegativeInf };

struct StatisticValues {
  StatisticOrigin origin = StatisticOrigin::kCsv;
  const stats::DialectChoice* dialects = nullptr;  // kCsv: the versions that may have written it
  DType dtype = DType::kUndefined;
  std::optional<Shape> shape;
  std::array<std::optional<StatisticNumber>, kExtrema> numbers;  // by Extremum
  std::optional<uint64_t> count, negative, positive, zero, nan, negative_inf, positive_inf;
  std::vector<Checksum> checksums;
  bool finite_only = false;          // max, min and mean leave out NaN and infinities
  std::string bad_number;            // the first text in a column of numbers that is not a number; else empty
  bool mean_of_first_chunk = false;  // up to 2.3.1, from 20000 elements on: the mean is that of the first chunk

  [[nodiscard]] const std::optional<StatisticNumber>& number(Extremum which) const {
    return numbers[static_cast<size_t>(which)];
  }
  [[nodiscard]] std::optional<int64_t> elements() const;
  // The root of the mean square, else the larger of |max| and |min|, else |mean|.
  [[nodiscard]] std::optional<double> scale() const;
  // Does the tensor have any? By a count or by their effect on the four numbers; no value when it is not known.
  [[nodiscard]] std::optional<bool> has(Special special) const;
  [[nodiscard]] bool is_finite() const;  // known to be
  [[nodiscard]] const Checksum* find(ChecksumKind kind) const;
};

// A row of a table: its columns and their texts, separated by commas. For a leaf of a dump.json: Max, Min, Mean, Norm and
// md5, in this order.
struct StoredStatistics {
  StatisticOrigin origin = StatisticOrigin::kCsv;
  std::span<const StatisticColumn> columns;
  std::string_view values;
  const stats::DialectChoice* dialects = nullptr;
};
[[nodiscard]] std::span<const StatisticColumn> json_columns();

[[nodiscard]] StatisticValues stored_values(const StoredStatistics& stored, DType dtype,
                                            const std::optional<Shape>& shape);

// The last step of every maker of StatisticValues: drops the meaningless numbers (see above).
void drop_empty_numbers(StatisticValues& values);

// The statistics of a tensor's elements, computed as the writer of the other side would have computed them:
//
//   statistic.csv   in the dialect of its version (stats/dialect.h), including means of first chunks and lost NaNs; with
//                   MD5 and SHA1 if the other side has them
//   dump.json       exact, a NaN makes all of them NaN; for complex numbers those of the moduli; CRC-32 and xor of the
//                   bytes, or of a float32 copy where MindSpore dumped bfloat16

// The dialects that may have written `other`, likeliest first, only one of those that compute alike; a single null if
// it is not from a statistic.csv of MindSpore.
[[nodiscard]] std::vector<const stats::Dialect*> dialects_of(const StatisticValues& other);

// Returns the number of elements of a sampled dump ("sample_mode"), which has the statistics of a tensor's first
// elements, and their number as the shape.
[[nodiscard]] std::optional<int64_t> sampled_elements(const TensorRecord& tensor, const StatisticValues& other);

// `dialect` is one of dialects_of(other).
Result<StatisticValues> computed_values(const DumpIndex& index, const TensorRecord& tensor,
                                        const StatisticValues& other, const stats::Dialect* dialect,
                                        const RunContext& context);

}  // namespace msdump
