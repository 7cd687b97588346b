// StepHistory: one statistic of each tensor step by step, in bounded memory.
//
// Tables of a long training have more rows than fit into memory. A tensor costs four bytes a step until all of them together
// reach the budget; then two neighbouring steps become one bin everywhere, and so on. A bin keeps the value
// that is farthest from that of the bin before, so that a single spike stays what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dump/names/identity.h"

namespace msdump::check {

// What stands for a tensor: its L2 norm, else the larger of |max| and |min|, else its mean.
enum class StepStatistic : uint8_t { kNorm, kLargest, kMean };
[[nodiscard]] std::string_view name_of(StepStatistic statistic);  // "norm", "largest", "mean"

struct StepTensor {
  std::optional<int64_t> rank = {}, graph = {};
  std::string op_name = {}, op_type = {}, slot = {};
  Io io = Io::kOutput;
  uint32_t occurrence = 0;  // in a step: a part of the batch, if gradients are accumulated
  StepStatistic statistic = StepStatistic::kNorm;
  double resolution = 0;  // SeriesScale::resolution
};
using StepTensorId = uint32_t;

struct StepSeries {
  std::vector<float> values;
  std::vector<int64_t> steps;  // of each; the first of a bin
};

class StepHistory {
 public:
  static constexpr size_t kBudget = size_t{96} << 20;

  explicit StepHistory(size_t budget = kBudget) : budget_(budget) {}

  // Tensors are numbered in the order in which they are added.
  StepTensorId add(StepTensor tensor);
  // The value of a step; NaN and infinities stand for a tensor that has them. Steps may come in any order; a bin is of steps
  // that first came one after the other.
  void set(StepTensorId tensor, int64_t step, float value);

  // Adds the tensors of another one behind these, with their steps. The larger bins become those of both.
  void append(StepHistory&& other);

  [[nodiscard]] size_t tensors() const { return tensors_.size(); }
  [[nodiscard]] const StepTensor& operator[](StepTensorId tensor) const { return tensors_[tensor]; }
  [[nodiscard]] uint64_t values() const { return set_; }  // calls of set()
  [[nodiscard]] size_t steps() const { return all_steps().size(); }
  [[nodiscard]] std::vector<int64_t> all_steps() const;  // ascending
  [[nodiscard]] size_t steps_in_bin() const { return size_t{1} << shift_; }
  // In ascending order of steps; steps without a number are left out.
  [[nodiscard]] StepSeries series(StepTensorId tensor) const;

 private:
  // The steps of tensors that were read together, in the order in which they came.
  struct Timeline {
    std::vector<int64_t> steps;
    std::unordered_map<int64_t, size_t> number_of;  // in steps
    size_t last = 0;                                // number of the last step asked for
    size_t number(int64_t step);
  };
  struct Values {
    std::vector<float> of_bins;
    uint32_t timeline = 0;
  };
  [[nodiscard]] bool can_halve() const;
  void halve();

  size_t budget_, held_ = 0;  // in bytes
  unsigned shift_ = 0;
  uint64_t set_ = 0;
  std::vector<StepTensor> tensors_;
  std::vector<Values> values_;              // by tensor
  std::vector<Timeline> timelines_ = {{}};  // the first is that of add(), the others came by append()
};

}  // namespace msdump::check
