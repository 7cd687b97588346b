#include "support/noisy_net/judge.h"

#include <algorithm>

#include <fmt/format.h>

namespace msdump::noisy {
namespace {

int fault_of(const DiffResult& run, OperatorId op, const std::string& parameter, const std::vector<Planted>& planted) {
  const Pairing& pairing = run.pairing;
  const OpPair& pair = pairing.operators[op];
  for (size_t i = 0; i < planted.size(); ++i) {
    const Planted& fault = planted[i];
    if (!parameter.empty()) {
      if (fault.in_reference.contains(parameter)) return static_cast<int>(i);
      continue;
    }
    if (pair.b != kNoId && fault.in_reference.contains(pairing.b[pair.b].name)) return static_cast<int>(i);
    if (pair.a != kNoId && fault.in_candidate.contains(pairing.a[pair.a].name)) return static_cast<int>(i);
  }
  return -1;
}

// Without an IR, operators have the names of files.
std::vector<Planted> with_file_names(std::vector<Planted> planted) {
  const auto add = [](std::set<std::string>& names) {
    std::set<std::string> more;
    for (std::string name : names) {
      std::replace(name.begin(), name.end(), '/', '_');
      more.insert(std::move(name));
    }
    names.merge(more);
  };
  for (Planted& fault : planted) {
    add(fault.in_reference);
    add(fault.in_candidate);
  }
  return planted;
}

// What the rules look at, of one operator in one step.
struct Extremes {
  double worst_scaled = 0;
  double cosine_in = 1, cosine_out = 1, within_in = 1, within_out = 1;
  bool broken = false, outputs = false;

  void add(const TensorDiff& diff, bool output) {
    const kernels::PairMetrics metrics = diff.metrics;
    double& cosine = output ? cosine_out : cosine_in;
    double& within = output ? within_out : within_in;
    if (metrics.cosine) cosine = std::min(cosine, *metrics.cosine);
    if (metrics.under_1e3) within = std::min(within, *metrics.under_1e3);
    if (!output) return;
    outputs = true;
    worst_scaled = std::max(worst_scaled, metrics.max_scaled.value_or(0));
    broken = broken || metrics.nan_mismatch + metrics.inf_mismatch > 0 || diff.verdict == Verdict::kNan;
  }

  [[nodiscard]] bool names(Rule rule) const {
    if (!outputs) return false;
    switch (rule) {
      case Rule::kTolerance: return broken || worst_scaled > 1e-3;
      case Rule::kCosine: return broken || cosine_out < 0.99;
      case Rule::kMsprobe: break;
    }
    return broken || (within_in > 0.9 && within_out < 0.1) || (cosine_in > 0.9 && cosine_in - cosine_out > 0.1);
  }
};

}  // namespace

std::string_view name_of(Rule rule) {
  switch (rule) {
    case Rule::kTolerance: return "rtol 1e-3";
    case Rule::kCosine: return "cosine 0.99";
    case Rule::kMsprobe: break;
  }
  return "msprobe";
}

std::vector<Named> judge(const DiffResult& run, const std::vector<Planted>& planted) {
  const auto named = with_file_names(planted);
  std::vector<Named> result;
  for (const Divergence& root : run.divergence.roots) {
    const std::string_view name = root.parameter.empty() ? std::string_view(run.op_name(root.op)) : root.parameter;
    result.push_back({fault_of(run, root.op, root.parameter, named), confidence(root.rule),
                      fmt::format("{} {}", msdump::name_of(root.kind), name)});
    for (const DivergencePlace& other : root.places) result.back().places.push_back(fault_of(run, other.op, {}, named));
  }
  return result;
}

std::vector<Named> judge_by(Rule rule, const DiffResult& run, const std::vector<Planted>& planted) {
  const auto with_files = with_file_names(planted);
  const Pairing& pairing = run.pairing;
  std::vector<Extremes> of(pairing.operators.size());
  for (size_t i = 0; i < pairing.tensors.size(); ++i) {
    const TensorPair& pair = pairing.tensors[i];
    const TensorDiff& diff = run.diffs[i];
    if (pair.b == kNoId || !has_metrics(diff.verdict)) continue;
    of[pair.op].add(diff, (*run.b->side.tensors)[pair.b].name.io == Io::kOutput);
  }
  std::vector<Named> result;
  for (OperatorId op{0}; op < of.size(); ++op) {
    if (of[op].names(rule)) result.push_back({fault_of(run, op, {}, with_files), 0, std::string(pairing.op_name(op))});
  }
  return result;
}

}  // namespace msdump::noisy
