#include "check/began/first_mover.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/containers.h"

namespace msdump::check {
namespace {

// Scores (deviations.h). docs/check.md says what each constant changes in the trainings of tests/e2e/steps.
constexpr double kStrongScore = 6;  // one tensor at least leaves its past by this much
constexpr double kSureScore = 2;    // the others that move with it
constexpr size_t kTensors = 2;      // tensors that have to move together: one alone is noise
// Distances in steps of the dump.
constexpr size_t kSettled = 5;       // a series takes its new values for normal: it expects the median of five
constexpr size_t kFollowers = 16;    // followers move until then
constexpr double kPowerOfTwo = 0.2;  // how far the logarithm of a factor may be from a whole number

struct Moved {
  size_t place = 0, onset = 0;  // of Deviation::at and onset, among the steps of the dump
  StepTensorId tensor = 0;
  Deviation deviation;
};

SeriesScale scale_of(const StepTensor& tensor) {
  return {tensor.statistic == StepStatistic::kMean, tensor.statistic == StepStatistic::kNorm, tensor.resolution};
}

// The search in one history. Sharp moves know their step, slow ones do not; they are searched apart.
class Search {
 public:
  Search(const StepHistory& history, const StepHistory* reference)
      : history_(history), reference_(reference), steps_(history.all_steps()) {}

  Status find_moves(const RunContext& context);
  [[nodiscard]] std::optional<Began> answer() const;

 private:
  [[nodiscard]] StepPhase phase(const Moved& moved) const { return phase_of(history_[moved.tensor].op_type); }
  [[nodiscard]] size_t place_of(int64_t step) const;
  [[nodiscard]] auto flow(const Moved& moved) const;
  [[nodiscard]] Mover mover(const Moved& moved) const;
  [[nodiscard]] bool is_loss_scale(std::span<const Moved> moves) const;
  [[nodiscard]] const Moved* first_strong(std::span<const Moved> moves) const;
  [[nodiscard]] const Moved& first_slow(std::span<const Moved> moves) const;
  [[nodiscard]] std::vector<Mover> followers(std::span<const Moved> moves, const Moved& first) const;
  [[nodiscard]] std::vector<int64_t> echoes(const Moved& first) const;

  const StepHistory& history_;
  const StepHistory* reference_;     // null: the history by itself
  std::vector<int64_t> steps_;       // ascending
  std::vector<Moved> sharp_, slow_;  // by step, then along the flow
};

// Gradients of weights are written in the order of the forward pass, and made in the reverse.
auto Search::flow(const Moved& moved) const {
  const StepPhase of = phase(moved);
  const bool reversed = of == StepPhase::kLocalGradient || of == StepPhase::kGradient;
  const auto position = static_cast<int64_t>(moved.tensor);
  return std::tuple(of, reversed ? -position : position);
}

size_t Search::place_of(int64_t step) const {
  return static_cast<size_t>(std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin());
}

Status Search::find_moves(const RunContext& context) {
  std::vector<std::vector<Moved>> by_tensor(history_.tensors());
  context.pool.parallel_for(static_cast<int64_t>(history_.tensors()), [&](int64_t number) {
    if (context.cancel.cancelled()) return;
    const auto tensor = static_cast<StepTensorId>(number);
    const StepSeries series = history_.series(tensor);
    const SeriesScale scale = scale_of(history_[tensor]);
    const std::vector<Deviation> found = reference_ == nullptr
                                             ? find_deviations(series.values, scale)
                                             : find_partings(series.values, reference_->series(tensor).values, scale);
    for (const Deviation& one : found) {
      by_tensor[tensor].push_back({place_of(series.steps[one.at]), place_of(series.steps[one.onset]), tensor, one});
    }
  });
  MSDUMP_CHECK_OK(context.cancel.check());
  for (const std::vector<Moved>& of_tensor : by_tensor) {
    for (const Moved& moved : of_tensor) (moved.deviation.slow ? slow_ : sharp_).push_back(moved);
  }
  const auto order = [&](const Moved& moved) { return std::tuple(moved.place, flow(moved), -moved.deviation.score); };
  for (std::vector<Moved>* const moves : {&sharp_, &slow_})
    std::sort(moves->begin(), moves->end(), [&](const Moved& a, const Moved& b) { return order(a) < order(b); });
  return {};
}

Mover Search::mover(const Moved& moved) const {
  return {moved.tensor, steps_[moved.onset], moved.deviation.change, moved.deviation.score, {}};
}

// The moves of the step of `first`.
std::span<const Moved> together(std::span<const Moved> moves, const Moved& first) {
  const auto [begin, end] = std::equal_range(moves.begin(), moves.end(), first,
                                             [](const Moved& a, const Moved& b) { return a.place < b.place; });
  return {begin, end};
}

size_t count_sure(std::span<const Moved> moves) {
  std::set<StepTensorId> tensors;
  for (const Moved& one : moves) {
    if (one.deviation.score >= kSureScore) tensors.insert(one.tensor);
  }
  return tensors.size();
}

// A loss scale multiplies gradients by a power of two, until they are divided by it: nothing after that moves.
bool Search::is_loss_scale(std::span<const Moved> moves) const {
  const auto is_other = [&](const Moved& one) {
    const bool is_scaled = phase(one) == StepPhase::kBackward || phase(one) == StepPhase::kLocalGradient;
    return one.deviation.score >= kSureScore && !is_scaled;
  };
  if (std::any_of(moves.begin(), moves.end(), is_other)) return false;
  const SeriesChange& level = moves.front().deviation.change;
  if (level.kind != ChangeKind::kLevel || !level.size || *level.size <= 0) return false;
  const double power = std::log2(*level.size), nearest = std::round(power);
  return nearest != 0 && std::abs(power - nearest) < kPowerOfTwo;
}

bool is_season(std::span<const Moved> moves) {
  return std::any_of(moves.begin(), moves.end(),
                     [](const Moved& one) { return one.deviation.score >= kStrongScore && one.deviation.season; });
}

// The first move that is strong, with others beside it, and that no schedule explains; null if there is none.
const Moved* Search::first_strong(std::span<const Moved> moves) const {
  const auto found = std::find_if(moves.begin(), moves.end(), [&](const Moved& first) {
    if (first.deviation.score < kStrongScore) return false;
    if (std::isinf(first.deviation.score)) return true;
    const std::span<const Moved> beside = together(moves, first);
    return count_sure(beside) >= kTensors && !is_loss_scale(beside) && !is_season(beside);
  });
  return found == moves.end() ? nullptr : &*found;
}

// The first in the flow of a step. One that barely leaves its own noise counts if it is off as far as the first that is sure:
// it hands on what makes others move.
const Moved& first_sharp(std::span<const Moved> moves) {
  const auto sure =
      std::find_if(moves.begin(), moves.end(), [](const Moved& one) { return one.deviation.score >= kSureScore; });
  return *std::find_if(moves.begin(), sure, [&](const Moved& one) {
    return one.deviation.of_slope == sure->deviation.of_slope && one.deviation.off / sure->deviation.off > 0.5F;
  });
}

// Nobody knows the step of a slow move exactly, so that the flow decides.
const Moved& Search::first_slow(std::span<const Moved> moves) const {
  return *std::min_element(moves.begin(), moves.end(),
                           [&](const Moved& a, const Moved& b) { return flow(a) < flow(b); });
}

// The earliest move of the tensor within the last kSettled steps: a gradual change begins before it is strong.
Moved onset(std::span<const Moved> moves, Moved first) {
  for (auto one = moves.rbegin(); one != moves.rend(); ++one) {
    if (one->tensor == first.tensor && one->place < first.place && one->place + kSettled >= first.place) first = *one;
  }
  return first;
}

std::vector<Mover> Search::followers(std::span<const Moved> moves, const Moved& first) const {
  std::vector<Mover> found;
  std::set<StepTensorId> seen = {first.tensor};
  for (const Moved& moved : moves) {
    if (moved.place < first.onset || moved.place > first.onset + kFollowers) continue;
    if (moved.deviation.score < kSureScore || !seen.insert(moved.tensor).second) continue;
    found.push_back(mover(moved));
  }
  return found;
}

std::vector<int64_t> Search::echoes(const Moved& first) const {
  std::set<int64_t> steps;
  for (const Moved& moved : sharp_) {
    if (moved.tensor == first.tensor && moved.place > first.place + kSettled) steps.insert(steps_[moved.place]);
  }
  return {steps.begin(), steps.end()};
}

std::optional<Began> Search::answer() const {
  const Moved *const sharp = first_strong(sharp_), *const slow = first_strong(slow_);
  if (sharp == nullptr && slow == nullptr) return std::nullopt;
  // Windows that reach over a sharp change are off because of it.
  const bool is_slow = slow != nullptr && (sharp == nullptr || slow->place + kSlowWindow < sharp->place);
  const std::vector<Moved>& moves = is_slow ? slow_ : sharp_;
  const std::span<const Moved> beside = together(moves, is_slow ? *slow : *sharp);
  const Moved first = is_slow ? first_slow(beside) : onset(sharp_, first_sharp(beside));
  Began began;
  began.steps = history_.steps();
  began.steps_in_bin = history_.steps_in_bin();
  began.first = mover(first);
  began.followers = followers(moves, first);
  if (began.first.change.kind == ChangeKind::kSpike) began.first.echoes = echoes(first);
  StepSeries series = history_.series(first.tensor);
  began.values = std::move(series.values);
  began.value_steps = std::move(series.steps);
  return began;
}

}  // namespace

std::string_view name_of(StepPhase phase) {
  static constexpr auto kNames = enum_table<StepPhase, std::string_view>(
      "parameter", "forward", "backward", "local gradient", "gradient", "optimizer state", "update");
  return kNames[phase];
}

StepPhase phase_of(std::string_view op_type) {
  static const std::map<std::string_view, StepPhase> kPhases = {
      {"param_origin", StepPhase::kParameter},
      {"backward", StepPhase::kBackward},
      {"actv_grad", StepPhase::kBackward},
      {"unreduced", StepPhase::kLocalGradient},
      {"grad_unreduced", StepPhase::kLocalGradient},
      {"reduced", StepPhase::kGradient},
      {"grad_reduced", StepPhase::kGradient},
      {"exp_avg", StepPhase::kState},
      {"exp_avg_sq", StepPhase::kState},
      {"param_updated", StepPhase::kUpdate},
  };
  const auto found = kPhases.find(op_type);
  return found == kPhases.end() ? StepPhase::kForward : found->second;
}

Result<std::optional<Began>> find_first_mover(const StepHistory& history, const RunContext& context,
                                              const StepHistory* reference) {
  Search search(history, reference);
  MSDUMP_CHECK_OK(search.find_moves(context));
  return search.answer();
}

}  // namespace msdump::check
