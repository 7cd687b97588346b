#include "divergence/roots/rejoining.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "base/numbers.h"
#include "compare/limits.h"
#include "divergence/model/constants.h"

namespace msdump {
namespace {

// In fewer executions behind it, everything may agree by chance.
constexpr size_t kLeastBehind = 24;
constexpr ReachedLimit kWorkLimit = {
    "operators_searched_for_agreement", kMostFollowed,
    "no more work for each operator goes into finding where the sides agree again; what is left is judged without it"};

}  // namespace

Rejoining::Rejoining(const RunView& view, const ErrorOfRecords& error_of_records)
    : view_(view),
      error_of_records_(error_of_records),
      backward_(view.runs().size()),
      behind_(view.runs().size()),
      work_left_(kMostFollowed * view.runs().size()) {
  for (ExecutionId run{0}; run < view.runs().size(); ++run) {
    for (const ExecutionId forward : view.forward_calls_of(run)) backward_[forward].push_back(run);
    bool of_unknown = false;
    for (const RunInput& input : view.run(run).inputs) {
      if (input.producer != kNoId || input.tensor == kNoId) continue;
      of_unknown = of_unknown || view.compared(input.tensor);
      if (const uint64_t contents = contents_of(input.tensor); contents != 0)
        entering_[{view.place(run).in_step(), contents}].emplace_back(run, input.tensor);
    }
    if (of_unknown && !view.one_sided(run)) of_unknown_.push_back(run);
  }
  for (ExecutionId run(view.runs().size()); run-- > 1;) {
    const ExecutionId before(run - 1);
    const bool is_known = !view.one_sided(run) && view.any_compared(view.run(run).outputs);
    if (view.place(before).rank == view.place(run).rank) behind_[before] = behind_[run] + (is_known ? 1 : 0);
  }
  find_ends();
}

void Rejoining::find_ends() {
  Sides<ExecutionId> last;
  for (ExecutionId run{0}; run < view_.runs().size(); ++run) {
    if (run > 0 && !view_.place(run).is_beside(view_.place(ExecutionId(run - 1)))) last = {};
    if (view_.is_backward(run)) {
      if (last.a != kNoId && last.b != kNoId && last.a != last.b) {
        for (const Side side : kBothSides) end_at_.emplace(last[side], ends_.size());
        ends_.push_back({last, {}});
      }
      last = {};
      continue;
    }
    // A side may run partners in another order.
    for (const Side side : kBothSides) {
      const SequencedOpId op = view_.pair(run)[side];
      if (op != kNoId && (last[side] == kNoId || op > view_.pair(last[side])[side])) last[side] = run;
    }
  }
}

std::optional<double> Rejoining::error_at_end(ExecutionId run) const {
  const auto found = end_at_.find(run);
  if (found == end_at_.end() || !error_of_records_) return {};
  PassEnd& end = ends_[found->second];
  if (end.error) return *end.error;
  end.error.emplace();
  const auto output_of = [&](Side side) {
    const std::vector<TensorId>& outputs = view_.run(end.last[side]).outputs;
    return outputs.size() == 1 ? view_.pairing().tensors[outputs.front()][side] : RecordId();
  };
  const RecordId a = output_of(Side::kCandidate), b = output_of(Side::kReference);
  if (a != kNoId && b != kNoId) *end.error = error_of_records_(a, b);
  return *end.error;
}

bool Rejoining::reaches_end(const Region& region) const {
  return std::any_of(region.begin(), region.end(), [&](ExecutionId run) { return end_at_.count(run) > 0; });
}

uint64_t Rejoining::contents_of(TensorId tensor) const {
  const TensorDiff& diff = view_.diff(tensor);
  return diff.hashes->written_b != 0 ? diff.hashes->written_b : diff.hashes->written_a;
}

double Rejoining::most_entering(const RunPlace& place) const {
  const auto [found, added] = most_entering_.try_emplace(place.in_step(), 0);
  if (!added) return found->second;
  std::vector<double> errors;
  for (const ExecutionId run : of_unknown_) {
    if (!view_.place(run).is_beside(place) || view_.is_backward(run)) continue;
    for (const RunInput& input : view_.run(run).inputs) {
      if (input.producer != kNoId || !view_.compared(input.tensor)) continue;
      const auto& error = view_.error(input.tensor);
      if (error && !error->discrete && std::isfinite(error->relative)) errors.push_back(error->relative);
    }
  }
  if (!errors.empty()) found->second = kChangedOnTheWay * quantile_of_unsorted(errors, 1 - kShareOfFew);
  return found->second;
}

bool Rejoining::spend(size_t work) const {
  if (work > work_left_) limits_.insert(kWorkLimit);
  work_left_ -= std::min(work, work_left_);
  return work_left_ > 0;
}

// The forward pass first: its differences say which gradients may differ.
class Rejoining::Walk {
 public:
  explicit Walk(const Rejoining& of) : of_(of), view_(of.view_) {}

  std::optional<Region> from(const std::vector<ExecutionId>& starts) {
    for (const ExecutionId run : starts) {
      start(run);
      if (!view_.one_sided(run) || !view_.is_backward(run)) continue;
      for (const ExecutionId forward : view_.forward_calls_of(run)) start(forward);
    }
    if (!go_on(false)) return {};
    for (const ExecutionId run : region_) backward_.insert(of_.backward_[run].begin(), of_.backward_[run].end());
    next_ = std::move(backward_);
    if (!go_on(true) || !joined_) return {};
    return std::move(region_);
  }

 private:
  void start(ExecutionId run) {
    if (view_.comes_after_backward(run)) return;
    (view_.is_backward(run) ? backward_ : next_).insert(run);
    region_.insert(run);
  }

  bool go_on(bool backward) {
    if (next_.empty()) return true;
    in_backward_ = backward;
    const ExecutionId first = *next_.begin();
    most_ = std::max(most_, most_before(first));  // gradients have the errors of the forward pass, too
    // The optimizer comes after the backward pass, and what it leaves is read in the next step.
    if (!backward && view_.comes_after_backward(first)) return false;
    end_ = first;
    while (end_ < view_.runs().size() && view_.is_backward(end_) == backward && same_step(end_, first)) ++end_;
    (void)of_.spend(end_ - first);
    ends_.clear();
    do {
      while (!next_.empty()) {
        if (!take(*next_.begin())) return false;
      }
      if (!ends_.empty()) visit_unseen();
    } while (!next_.empty());
    return ends_.empty() || (!backward && returns_the_same_) || is_read_unseen();
  }

  // False if a difference is left.
  bool take(ExecutionId run) {
    next_.erase(run);
    if (region_.count(run) == 0 && all_agree(run)) {
      joined_ = true;
      return true;
    }
    region_.insert(run);
    if (const auto error = in_backward_ ? std::nullopt : of_.error_at_end(run); error && *error <= most_) {
      joined_ = returns_the_same_ = true;
      return true;
    }
    note_errors(run);
    if (!of_.spend(1 + view_.run(run).readers.size())) return false;
    if (region_.size() > kMostFollowed) return false;
    if (view_.graph().is_returned(view_.run(run).op)) return false;
    visit_readers(run);
    bool is_read = !view_.run(run).readers.empty();
    if (in_backward_ && !visit_sums(run, is_read)) return false;
    if (is_read) return true;
    if (view_.graph().flow() == FlowKind::kIr) {
      return false;  // it has all edges
    } else if (view_.one_sided(run) || view_.any_compared(view_.run(run).outputs)) {
      ends_.insert(run);
    }
    return true;
  }

  void note_errors(ExecutionId run) {
    for (const TensorId output : view_.run(run).outputs) {
      const auto& error = view_.error(output);
      if (view_.compared(output) && error && !error->discrete) largest_ = std::max(largest_, error->relative);
    }
  }

  void visit(ExecutionId run) {
    if (region_.count(run) > 0) return;
    (view_.is_backward(run) && !in_backward_ ? backward_ : next_).insert(run);
  }

  void visit_readers(ExecutionId run) {
    for (const ExecutionId reader : view_.run(run).readers) {
      const auto& inputs = view_.run(reader).inputs;
      const bool reads = std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
        return input.producer == run ? input.produced == kNoId || leaves(run, input.produced)
                                     : input.other_producer == run;
      });
      if (reads) visit(reader);
    }
  }

  // False if the gradient of a weight does not agree.
  bool visit_sums(ExecutionId run, bool& is_read) {
    const auto& gradients = view_.run(run).outputs;
    for (const ExecutionId forward : view_.forward_calls_of(run)) {
      for (const RunInput& input : view_.run(forward).inputs) {
        const auto gradient = std::find_if(gradients.begin(), gradients.end(), [&](TensorId tensor) {
          return view_.slot(tensor) == view_.slot(input.tensor);
        });
        if (gradient != gradients.end() && !leaves(run, *gradient)) continue;
        if (input.producer != kNoId) {
          is_read = is_read || !of_.backward_[input.producer].empty();
          for (const ExecutionId sum : of_.backward_[input.producer]) visit(sum);
        } else if (gradient != gradients.end() && !see_entering(run, forward, input, *gradient)) {
          return false;
        }
      }
    }
    return true;
  }

  // False if the gradient of a value that no operator wrote does not agree. Where other calls read the value, too, it is a
  // part of a sum: the value in the next step shows it, or, in the last step, what depends on the sum.
  bool see_entering(ExecutionId run, ExecutionId forward, const RunInput& input, TensorId gradient) {
    RunPlace place = view_.place(forward);
    const auto readers = of_.entering_.find({place.in_step(), of_.contents_of(input.tensor)});
    if (readers == of_.entering_.end() || readers->second.size() == 1)
      return view_.differs(input.tensor) || !view_.compared(gradient);
    place.step = place.step.value_or(0) + 1;
    const double most = of_.most_entering(place);
    if (view_.one_sided(forward) || most == 0) {
      ends_.insert(run);
      return true;
    }
    return view_.differs(input.tensor) ||
           std::any_of(readers->second.begin(), readers->second.end(), [&](const auto& reader) {
             return agrees_in(place, reader.first, view_.slot(reader.second), most);
           });
  }

  // True if the input of the execution has at most this error in a later step.
  [[nodiscard]] bool agrees_in(const RunPlace& step, ExecutionId run, std::string_view slot, double most) const {
    if (view_.one_sided(run)) return false;
    const std::span<const ExecutionId> later = view_.runs_named(view_.name(run), step);
    return std::any_of(later.begin(), later.end(), [&](ExecutionId one) {
      const auto& inputs = view_.run(one).inputs;
      return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
        if (!view_.compared(input.tensor) || view_.slot(input.tensor) != slot) return false;
        const auto& error = view_.error(input.tensor);
        return error && error->relative <= most;
      });
    });
  }

  [[nodiscard]] bool same_step(ExecutionId run, ExecutionId other) const {
    return view_.place(run).rank == view_.place(other).rank && view_.place(run).step == view_.place(other).step;
  }

  // Operators that were not dumped may lead from a value without known readers to an input of unknown source.
  void visit_unseen() {
    for_unknown_after(*ends_.begin(), [&](ExecutionId run) {
      if (!agree_from_unknown(run) && !all_agree(run)) next_.insert(run);
    });
  }

  [[nodiscard]] bool is_read_unseen() {
    bool any = false;
    for_unknown_after(*ends_.rbegin(), [&](ExecutionId) { any = true; });
    joined_ = joined_ || any;
    return any;
  }

  void for_unknown_after(ExecutionId after, const auto& visit) const {
    const auto& all = of_.of_unknown_;
    size_t work = 0;
    for (auto run = std::upper_bound(all.begin(), all.end(), after); run != all.end() && *run < end_; ++run, ++work) {
      if (region_.count(*run) == 0) visit(*run);
    }
    (void)of_.spend(work);
  }

  [[nodiscard]] bool agree_from_unknown(ExecutionId run) const {
    const auto& inputs = view_.run(run).inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.producer != kNoId || !view_.compared(input.tensor) || agrees(input.tensor);
    });
  }

  [[nodiscard]] bool leaves(ExecutionId run, TensorId tensor) const { return view_.one_sided(run) || !agrees(tensor); }

  // True if outputs were compared and agree. What no kernel writes agrees without meaning anything.
  [[nodiscard]] bool all_agree(ExecutionId run) const {
    bool any = false;
    for (const TensorId output : view_.run(run).outputs) {
      if (!view_.compared(output) || view_.graph().role(output) == TensorRole::kUnwritten) continue;
      if (!agrees(output)) return false;
      any = true;
    }
    return any && !view_.one_sided(run);
  }

  [[nodiscard]] bool agrees(TensorId tensor) const {
    if (!view_.compared(tensor)) return false;
    const auto& error = view_.error(tensor);
    if (!error || view_.is_scaled(tensor)) return !view_.differs(tensor);
    if (error->discrete) return error->relative <= 0;
    if (error->relative <= most_) return true;
    // The noise of gradients grows more than that of the forward pass, and other values seldom come back so near.
    const bool other_values = in_backward_ && largest_ > kMostError;
    return other_values && error->relative <= std::min(kChangedOnTheWay * most_, kMostNoise);
  }

  // The largest error that is noise: several times the usual one of the executions before.
  [[nodiscard]] double most_before(ExecutionId run) const {
    std::vector<double> errors;
    const RunPlace place = view_.place(run);
    size_t work = 0;
    for (; run-- > 0 && errors.size() < kFewTried && view_.place(run).rank == place.rank; ++work) {
      if (view_.one_sided(run) || region_.count(run) > 0) continue;
      for (const TensorId output : view_.run(run).outputs) {
        const auto& error = view_.error(output);
        // A larger one is of another value, or of one that is zero but for rounding.
        if (view_.compared(output) && error && !error->discrete && error->relative <= kMostError)
          errors.push_back(error->relative);
      }
    }
    (void)of_.spend(work);
    const double usual = errors.empty() ? 0 : quantile_of_unsorted(errors, 1 - kShareOfFew);
    return kChangedOnTheWay * std::max(usual, kMostRoundings * unit_roundoff(DType::kFloat32));
  }

  const Rejoining& of_;
  const RunView& view_;
  Region region_;
  std::set<ExecutionId> next_, backward_;  // to be looked at, and those of the backward pass until it is walked
  std::set<ExecutionId> ends_;             // of the region, which nothing is known to read
  ExecutionId end_;                        // of the pass that is walked
  double largest_ = 0;                     // error in the region
  double most_ = 0;                        // the error that is noise where it begins
  bool in_backward_ = false, joined_ = false;
  bool returns_the_same_ = false;  // the forward pass, at its end
};

std::optional<Rejoining::Region> Rejoining::behind(const std::vector<ExecutionId>& starts) const {
  if (behind_[starts.front()] <= kLeastBehind) return {};
  return Walk(*this).from(starts);
}

}  // namespace msdump
