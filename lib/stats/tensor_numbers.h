// TensorNumbers: the statistics of one tensor, computed from its elements or read from a row of a table. Their precision
// depends on the origin:
//
//   elements              exact, but for sums of 64-bit integers, which round in float64
//   statistic.csv         six digits, so half a unit of the sixth (whole numbers of up to six digits and 0 are exact);
//                         the device may have computed mean and norm, and adds in single precision
//   dump.json, PyTorch    max and min are exact; mean and norm are in the tensor's own precision
//   dump.json, MindSpore  everything but bool went through float32, or through the tensor's own half precision
//   msprobe's monitor     as dump.json of PyTorch; the first monitor rounds to six decimals
//   torchtitan's log      seven digits, so half a unit of the seventh; mean and norm may be of float32
//
// Max and min do not always show a NaN. statistic.csv of 1.6 to 2.3rc leaves NaN and infinities out of max, min and mean.
// 2.3 and 2.4 lose a NaN of max and min when chunks are merged, and MindSpore on a CPU loses it in dump.json. The mean, the
// norm and the counts then show it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/reduce/reduce.h"
#include "report/value.h"
#include "tables/statistic_csv.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

namespace stats {
struct DialectChoice;
}

struct StatisticNumber {
  double value = 0;  // may be NaN or infinite
  double slack = 0;  // the true value is at most this far away
};

// kHash and kWeakHash (msprobe/tensor_log.h) are of the values, the others of the bytes. Tensors that are not equal easily
// share a kXor or a kWeakHash.
enum class ChecksumKind : uint8_t { kCrc32, kMd5, kSha1, kXor, kHash, kWeakHash };
[[nodiscard]] constexpr ChecksumKind last_of(ChecksumKind) { return ChecksumKind::kWeakHash; }
[[nodiscard]] std::string_view name_of(ChecksumKind kind);  // "CRC-32", ...
[[nodiscard]] constexpr bool is_of_bytes(ChecksumKind kind) { return kind <= ChecksumKind::kXor; }
[[nodiscard]] constexpr bool is_weak(ChecksumKind kind) {
  return kind == ChecksumKind::kXor || kind == ChecksumKind::kWeakHash;
}

struct Checksum {
  ChecksumKind kind = ChecksumKind::kCrc32;
  bool widened = false;  // for bfloat16: computed from a float32 copy
  std::string text;      // hexadecimal, lower case; of kHash and kWeakHash as the writer has it
};

enum class StatisticOrigin : uint8_t {
  kElements,
  kCsv,        // statistic.csv as MindSpore writes it
  kDeviceCsv,  // statistic.csv as msprobe writes it
  kMindSporeJson,
  kTorchJson,
  kNumpyJson,
  kMonitorCsv,  // of msprobe's first monitor; numbers of the second one are those of kTorchJson
  kTorchLog,    // of PyTorch's DebugMode and torchtitan
};

enum class Extremum : uint8_t { kMax, kMin, kMean, kNorm };
inline constexpr size_t kExtrema = 4;

enum class Special : uint8_t { kNan, kPositiveInf, kNegativeInf };

struct TensorNumbers {
  StatisticOrigin origin = StatisticOrigin::kElements;
  DType dtype = DType::kUndefined;                               // of the framework's tensor
  std::optional<Shape> shape;                                    // of the elements that were analysed
  std::array<std::optional<StatisticNumber>, kExtrema> numbers;  // by Extremum
  // A dtype without statistics has no count. `count` is the value of the column, which MindSpore from 2.4 on rounds.
  std::optional<uint64_t> count, negative, positive, zero, nan, negative_inf, positive_inf;
  std::vector<Checksum> checksums;

  // Only of elements, if asked for.
  std::optional<double> mean_abs;            // of the finite elements; none for signed integers
  std::optional<kernels::CodeCounts> codes;  // none for types without such codes (kernels/reduce/reduce.h)
  uint64_t data_size = 0;                    // as statistic.csv has it
  uint64_t stored_bytes = 0;                 // in the file
  std::string note;                          // why the device format, padding and all, was analysed

  // How the writer computed.
  const stats::DialectChoice* dialects = nullptr;  // kCsv: the versions that may have written it
  bool finite_only = false;                        // max, min and mean leave out NaN and infinities
  bool nothing_finite = false;                     // max, min and mean are written as "null" (up to 2.3rc)
  bool mean_of_first_chunk = false;                // up to 2.3.1, from 20000 elements on
  std::string bad_number;                          // the first text in a column of numbers that is not a number

  [[nodiscard]] const std::optional<StatisticNumber>& number(Extremum which) const {
    return numbers[static_cast<size_t>(which)];
  }
  [[nodiscard]] double value(Extremum which) const;  // NaN if unknown
  [[nodiscard]] uint64_t count_infinite() const;     // as far as they were counted
  // Number of elements: by the shape, else by the count.
  [[nodiscard]] std::optional<int64_t> elements() const;
  // Root of the mean square, else the larger of |max| and |min|, else |mean|.
  [[nodiscard]] std::optional<double> scale() const;
  // True if the tensor has NaN (or an infinity), by a count or by its effect on the four numbers. None if unknown.
  [[nodiscard]] std::optional<bool> has(Special special) const;
  [[nodiscard]] bool is_finite() const;  // known to be
  [[nodiscard]] const Checksum* find(ChecksumKind kind) const;
};

// The member that holds the value of a column.
using StatisticCount = std::optional<uint64_t> TensorNumbers::*;
using StatisticMember = std::variant<Extremum, StatisticCount, ChecksumKind>;
[[nodiscard]] StatisticMember member_of(StatisticColumn column);

// The value of a column; null if it is unknown.
[[nodiscard]] report::Value value_of(const TensorNumbers& numbers, StatisticColumn column);
// True if the writer has "null" in this column because no element is finite.
[[nodiscard]] bool is_null(const TensorNumbers& numbers, StatisticColumn column);

// A row of a table: its columns and their texts, separated by commas. For a leaf of a dump.json: Max, Min, Mean, Norm and
// md5, in this order.
struct StoredStatistics {
  StatisticOrigin origin = StatisticOrigin::kCsv;
  std::span<const StatisticColumn> columns;
  std::string_view values;
  const stats::DialectChoice* dialects = nullptr;
};
[[nodiscard]] std::span<const StatisticColumn> json_columns();

[[nodiscard]] TensorNumbers stored_numbers(const StoredStatistics& stored, DType dtype,
                                           const std::optional<Shape>& shape);

// Drops numbers that mean nothing:
//   * a norm or mean that is infinite while max and min are finite: the sum overflowed
//   * all four if min is above max: there were no elements
//   * the sign of a scalar's norm, because some writers give the value as its norm
void drop_empty_numbers(TensorNumbers& numbers);

}  // namespace msdump
