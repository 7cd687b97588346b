// Any bytes as two sets of statistics, with their dtypes and shapes: a first line of choices, then the values of each
// side. Whatever they are, a tensor does not differ from itself, both directions tell the same but for the scale of the
// reference, and a verdict that needs a reason has one.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "compare/statistics/statistic_diff.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;

constexpr std::array kDTypes = {DType::kFloat32, DType::kFloat16, DType::kBfloat16,  DType::kFloat64,  DType::kInt32,
                                DType::kInt64,   DType::kBool,    DType::kComplex64, DType::kUndefined};
constexpr std::array kOrigins = {StatisticOrigin::kCsv, StatisticOrigin::kDeviceCsv, StatisticOrigin::kMindSporeJson,
                                 StatisticOrigin::kTorchJson, StatisticOrigin::kNumpyJson};

std::vector<StatisticColumn> all_columns() {
  std::vector<StatisticColumn> columns;
  for (const StatisticColumnInfo& one : all_statistic_columns()) columns.push_back(one.column);
  return columns;
}

// Takes a line off `text`.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

size_t choice(std::string_view choices, size_t place, size_t count) {
  return place < choices.size() ? static_cast<uint8_t>(choices[place]) % count : 0;
}

std::optional<Shape> shape_of(std::string_view choices, size_t place) {
  static const std::array<std::optional<Shape>, 7> kShapes = {Shape{4},       Shape{},   Shape{0, 4}, Shape{2, 2},
                                                              Shape{1, 4, 1}, Shape{-1}, std::nullopt};
  return kShapes[choice(choices, place, kShapes.size())];
}

TensorNumbers values_of(std::string_view choices, size_t place, std::string_view text) {
  static const std::vector<StatisticColumn> kColumns = all_columns();
  static const stats::DialectChoice kOld{{stats::all_dialects().data()}, "", false};
  StoredStatistics stored{kOrigins[choice(choices, place, kOrigins.size())], kColumns, text, nullptr};
  if (stored.origin != StatisticOrigin::kCsv && stored.origin != StatisticOrigin::kDeviceCsv) {
    stored.columns = json_columns();
  } else if (choice(choices, place + 1, 2) == 1) {
    stored.dialects = &kOld;
  }
  return stored_numbers(stored, kDTypes[choice(choices, place + 2, kDTypes.size())], shape_of(choices, place + 3));
}

void check_values(const TensorNumbers& values) {
  for (const auto& number : values.numbers) {
    require(!number || number->slack >= 0, "a slack is no negative number, nor NaN");
  }
  const auto scale = values.scale();
  require(!scale || (std::isfinite(*scale) && *scale >= 0), "a scale is finite");
}

void check_verdict(const TensorDiff& diff) {
  require(diff.by_statistics, "it says what it is made of");
  require(diff.verdict == Verdict::kEmpty || !diff.reason->empty(), "a verdict has a reason");
  require(diff.reason->find('\n') == std::string::npos, "a reason is one line");
  require(!diff.relative_error || *diff.relative_error >= 0, "an error is no negative number, nor NaN");
  require(diff.verdict != Verdict::kUnmatched, "both sides are there");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view choices = take_line(text), first = take_line(text), second = take_line(text);
  const TensorNumbers a = values_of(choices, 0, first), b = values_of(choices, 4, second);
  check_values(a);
  check_values(b);
  const TensorDiff diff = diff_statistics(a, b, {}), back = diff_statistics(b, a, {});
  check_verdict(diff);
  check_verdict(back);
  require(!is_difference(diff_statistics(a, a, {}).verdict), "a tensor does not differ from itself");
  // How far is too far depends on the scale of the reference, the rest does not.
  for (const Verdict verdict : {Verdict::kNan, Verdict::kShape, Verdict::kDtype, Verdict::kEmpty, Verdict::kSkipped}) {
    require((diff.verdict == verdict) == (back.verdict == verdict), "both directions tell the same");
  }
  return 0;
}
