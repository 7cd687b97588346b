#include "divergence/roots/no_root.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"

namespace msdump {
namespace {

// "38 differences could not be judged (30: written by an optimizer ..; 8: ..)"
std::string unjudged_text(const DiffResult& run, uint64_t count) {
  std::map<Unjudged, uint64_t> counts;
  for (const TensorId row : run.rows) {
    if (is_unexplained(run, row)) ++counts[run.divergence.unjudged[row]];
  }
  counts.erase(Unjudged::kUnmatched);
  std::vector<std::pair<Unjudged, uint64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
  std::string reasons;
  for (size_t i = 0; i < order.size() && i < kNamedInText; ++i) {
    if (order[i].first == Unjudged::kNone) continue;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", order[i].second, text_of(order[i].first));
  }
  if (order.size() > kNamedInText) reasons += "; ..";
  return fmt::format("{} could not be judged{}", plural(count, "difference"),
                     reasons.empty() ? "" : " (" + reasons + ")");
}

// True for a difference between two ways to write the same.
bool is_rewriting(const DiffResult& run, TensorId row) { return run.divergence.explained[row] == Explanation::kInert; }

// " (largest: 0.016 in MatMul-op20)"
std::string largest_text(const DiffResult& run) {
  double most = 0;
  OperatorId where;
  for (const TensorId row : run.rows) {
    if (!counts_as_difference(run, row) || is_rewriting(run, row)) continue;
    const double error = judged_error(run, row).value_or(0);
    if (!(error > most)) continue;
    most = error;
    where = run.pairing.tensors[row].op;
  }
  return most > 0 ? fmt::format(" (largest: {:.2g} in {})", most, run.op_name(where)) : std::string();
}

}  // namespace

NoRoot describe_no_root(const DiffResult& run) {
  uint64_t unexplained = 0, random = 0, rewritten = 0;
  for (const TensorId row : run.rows) {
    if (is_unexplained(run, row) && run.diffs[row].verdict != Verdict::kUnmatched) ++unexplained;
    if (counts_as_difference(run, row) && run.divergence.explained[row] == Explanation::kRandom) ++random;
    if (is_rewriting(run, row)) ++rewritten;
  }
  if (unexplained > 0) return {"no operator stands out; " + unjudged_text(run, unexplained), true};
  if (random > 0)
    return {"no operator stands out: the differences follow from random numbers that were drawn differently", false};
  const std::string largest = largest_text(run);
  std::string why = "no operator is wrong: ";
  if (rewritten > 0) {
    why += fmt::format("{} lie{} where the two write the same in two ways, and what follows agrees",
                       plural(rewritten, "tensor"), rewritten == 1 ? "s" : "");
    if (!largest.empty()) why += "; ";
  }
  if (rewritten == 0 || !largest.empty())
    why += fmt::format("{} what rounding leads to, by about {:.2g} an operator{}",
                       rewritten > 0 ? "the others are" : "the differences are", run.divergence.growth.noise, largest);
  return {std::move(why), false};
}

}  // namespace msdump
