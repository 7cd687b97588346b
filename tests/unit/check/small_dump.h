// The files of a small dump that is then Checked: arrays of few elements, and where MindSpore puts them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/check_run.h"
#include "support/graph_run.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump::check {

inline constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr const char* kIrPath = "rank_0/graphs/ms_output_trace_code_graph_0.ir";

[[nodiscard]] std::string floats(const std::vector<float>& elements);
// By their codes: 0x3C00 is 1, 0x7BFF 65504.
[[nodiscard]] std::string halves(const std::vector<uint16_t>& codes);
// Of any dtype that .npy has.
template <class T>
[[nodiscard]] std::string npy_of(std::string_view descr, const std::vector<T>& elements) {
  return test::npy_of(descr, Shape{static_cast<int64_t>(elements.size())},
                      {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)});
}

// "rank_0/Net/0/STEP/TYPE.NAME.0.0.TIME.output.0.DefaultFormat.npy"
[[nodiscard]] std::string tensor_path(std::string_view op, int64_t time, std::string_view io_slot, int64_t step = 0,
                                      int64_t rank = 0);

// With so many columns: more than one dimension.
[[nodiscard]] std::string matrix(const std::vector<float>& elements, int64_t columns);
// A dump file with one output, of a dtype that .npy does not have.
[[nodiscard]] std::string device_file(DType dtype, const std::string& bytes);

// A statistic.csv with these columns of numbers ("Max Value,Min Value"), of outputs with four elements.
struct StatisticRow {
  std::string_view op, dtype, numbers;  // "Mul-op1", "float16", "7,1"
};
[[nodiscard]] std::string statistic_table(std::string_view columns, const std::vector<StatisticRow>& rows);

using test::Checked;

[[nodiscard]] RuleSet only(std::string_view rule);  // this rule and no other
// The findings about one operator with an input and an output, as Checked::reported().
using Lines = std::vector<std::string>;
[[nodiscard]] Lines reported_of(std::string_view op, const std::string& input, const std::string& output,
                                const RuleSet& rules = test::rules_for_made_up_values());

}  // namespace msdump::check
