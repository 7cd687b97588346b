#include "support/noisy_net/faults.h"

#include <algorithm>
#include <cmath>

#include "support/noisy_net/fault_kinds.h"

namespace msdump::noisy {
namespace {

constexpr double kLeastNoise = 3e-8;  // about a rounding of float32: less is no measure

Change scaled(double loss_scale, Change change = {}) {
  change.loss_scale = loss_scale;
  return change;
}

}  // namespace

Setting setting_of(uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 3);
  const auto chance = [&](uint64_t of) { return random() % of == 0; };
  Setting setting;
  setting.plan.seed = seed;
  setting.reference = reference_arithmetic(seed);
  setting.candidate = candidate_arithmetic(seed);
  setting.steps = chance(4) ? 2 : 1;
  const bool low = setting.candidate.store == Store::kFloat16 || setting.candidate.store == Store::kBFloat16;
  if (chance(3) && low) setting.loss_scale = 1024;
  setting.ir = !chance(5);
  setting.statistics = chance(10);
  setting.half_files = setting.candidate.store == Store::kFloat16 && chance(3);
  return setting;
}

NoisyNet::NoisyNet(uint64_t seed)
    : setting_(setting_of(seed)),
      net_(random_net(setting_.plan)),
      candidate_(random_net(setting_.plan, scaled(setting_.loss_scale))) {
  for (uint32_t i = 0; i < net_.nodes.size(); ++i) keys_[net_.nodes[i].key] = i;
  reference_ = evaluate(net_, {setting_.reference, seed, setting_.steps});
  healthy_ = evaluate(candidate_, run_of_candidate());
}

Run NoisyNet::run_of_candidate() const { return {setting_.candidate, setting_.plan.seed, setting_.steps}; }

double NoisyNet::error(const Net& net, const std::vector<StepValues>& values, uint32_t node, size_t output) const {
  const auto found = keys_.find(net.nodes[node].key);
  if (found == keys_.end() || output >= net_.nodes[found->second].outputs.size()) return 0;
  const Numbers& own = values[0].values[net.nodes[node].outputs[output]].v;
  const Numbers& right = reference_[0].values[net_.nodes[found->second].outputs[output]].v;
  return own.size() == right.size() ? relative_error(own, right, setting_.loss_scale != 1) : 0;
}

NoisyNet::Measure NoisyNet::measure(const std::vector<StepValues>& base, const KernelFault& fault) const {
  const std::vector<Tensor> wrong = outputs_of(candidate_, base[0], setting_.candidate, fault);
  Measure most{1, 0};
  for (size_t i = 0; i < wrong.size(); ++i) {
    const Numbers& right = base[0].values[candidate_.nodes[fault.node].outputs[i]].v;
    if (right.size() < 8) continue;  // the error of a few numbers may be anything
    const Measure one{std::max(error(candidate_, base, fault.node, i), kLeastNoise), relative_error(wrong[i].v, right)};
    if (one.size / one.noise > most.size / most.noise) most = one;
  }
  return most;
}

// Sets the strength of the fault.
bool NoisyNet::grade(const std::vector<StepValues>& base, KernelFault& fault, const std::string& kind,
                     double ratio) const {
  const auto reached = [&] {
    const Measure of = measure(base, fault);
    return of.size / of.noise;
  };
  if (kind == "epsilon" || kind == "mantissa") {
    // The strength grows along 40 notches.
    int low = 0, high = 40;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      set_notch(fault.twist, kind, middle);
      (reached() < ratio ? low : high) = middle;
    }
    set_notch(fault.twist, kind, high);
    return true;
  }
  const double whole = reached();
  if (kind == "factor") {
    fault.twist.factor = 1 + (fault.twist.factor - 1) * ratio / whole;
    return std::fabs(fault.twist.factor - 1) < 1;
  }
  fault.share = ratio / whole;
  return fault.share <= 1;
}

std::optional<NoisyNet::Choice> NoisyNet::choose(const std::vector<StepValues>& base, double ratio, bool at_least,
                                                 std::mt19937_64& random, const std::set<std::string>& avoid) const {
  std::map<std::string, std::vector<uint32_t>> by_kind;
  for (uint32_t i = 0; i < candidate_.nodes.size(); ++i) {
    const NetNode& node = candidate_.nodes[i];
    if (!keys_.contains(node.key) || avoid.contains(node.name)) continue;
    for (const std::string& kind : kinds_of_fault(candidate_, node, at_least)) by_kind[kind].push_back(i);
  }
  for (int attempt = 0; attempt < 80 && !by_kind.empty(); ++attempt) {
    const auto& [kind, nodes] = *std::next(by_kind.begin(), static_cast<std::ptrdiff_t>(random() % by_kind.size()));
    KernelFault fault;
    fault.node = nodes[random() % nodes.size()];
    fault_of_kind(candidate_, kind, random, fault);
    if (!at_least && !grade(base, fault, kind, ratio)) continue;
    const Measure of = measure(base, fault);
    const double got = of.size / of.noise;
    if (of.noise > 0.2 || (!at_least && of.size > 1.2)) continue;
    if (at_least ? got < ratio || of.size < 0.01 : got < 0.7 * ratio || got > 1.5 * ratio) continue;
    Choice choice;
    choice.planted = {kind, candidate_.nodes[fault.node].name, {}, {}, of.noise, of.size};
    const uint32_t chosen = fault.node;
    for (const uint32_t i : instances(chosen, nodes, random() % 4 == 0 ? of.size : 0)) {
      const NetNode& node = candidate_.nodes[i];
      fault.node = i;
      choice.faults.push_back(fault);
      choice.planted.in_candidate.insert(node.name);
      choice.planted.in_reference.insert(net_.nodes[keys_.at(node.key)].name);
    }
    return choice;
  }
  return std::nullopt;
}

// Those of the same name; sometimes, of all that could have the fault, those of the same line and shape too. But a small
// fault in most operators of a type is how that device computes.
std::vector<uint32_t> NoisyNet::instances(uint32_t of, const std::vector<uint32_t>& all, double size) const {
  const NetNode& node = candidate_.nodes[of];
  std::vector<uint32_t> same, line;
  for (const uint32_t i : all) {
    const NetNode& other = candidate_.nodes[i];
    const bool alike = other.line == node.line && other.type == node.type && other.backward == node.backward &&
                       candidate_.values[other.outputs[0]].shape == candidate_.values[node.outputs[0]].shape;
    if (other.name == node.name) same.push_back(i);
    if (other.name == node.name || alike) line.push_back(i);
  }
  const auto siblings = std::count_if(candidate_.nodes.begin(), candidate_.nodes.end(), [&](const NetNode& other) {
    return other.type == node.type && other.backward == node.backward;
  });
  return size > 0.05 || (size > 0 && 3 * line.size() <= static_cast<size_t>(siblings)) ? line : same;
}

std::vector<double> NoisyNet::noise() const {
  std::vector<double> result;
  for (uint32_t i = 0; i < candidate_.nodes.size(); ++i) result.push_back(error(candidate_, healthy_, i, 0));
  return result;
}

Candidate NoisyNet::with(std::vector<KernelFault> faults, std::vector<Planted> planted) const {
  Run run = run_of_candidate();
  run.faults = std::move(faults);
  return {candidate_, evaluate(candidate_, run), std::move(planted)};
}

std::optional<Candidate> NoisyNet::graded(double ratio) const {
  std::mt19937_64 random(setting_.plan.seed * 13 + static_cast<uint64_t>(ratio));
  auto choice = choose(healthy_, ratio, false, random, {});
  if (!choice) return std::nullopt;
  return with(std::move(choice->faults), {std::move(choice->planted)});
}

// An error upstream of a fault would hide it. In a step, nodes are in the order of the flow.
std::set<std::string> NoisyNet::names_upstream(const std::vector<KernelFault>& faults) const {
  std::vector<bool> upstream(candidate_.nodes.size());
  for (const KernelFault& fault : faults) upstream[fault.node] = true;
  std::set<std::string> names;
  for (size_t i = upstream.size(); i-- > 0;) {
    if (!upstream[i]) continue;
    names.insert(candidate_.nodes[i].name);
    for (const Ref input : candidate_.nodes[i].inputs) {
      if (input != kAbsent && candidate_.values[input].node != kAbsent) upstream[candidate_.values[input].node] = true;
    }
  }
  return names;
}

std::optional<Candidate> NoisyNet::two(double ratio) const {
  std::mt19937_64 random(setting_.plan.seed * 17 + 1);
  auto first = choose(healthy_, ratio, false, random, {});
  if (!first) return std::nullopt;
  const Candidate one = with(first->faults, {first->planted});
  auto second = choose(one.values, ratio, false, random, names_upstream(first->faults));
  if (!second) return std::nullopt;
  std::vector<KernelFault> faults = first->faults;
  faults.insert(faults.end(), second->faults.begin(), second->faults.end());
  return with(std::move(faults), {std::move(first->planted), std::move(second->planted)});
}

std::optional<Candidate> NoisyNet::full() const {
  std::mt19937_64 random(setting_.plan.seed * 19 + 2);
  for (int family = 0; family < 4; ++family) {
    const auto which = random() % 4;
    for (int attempt = 0; attempt < 25; ++attempt) {
      auto candidate = which == 0 ? wrong_kernel(random) : which == 1 ? wrong_parameter(random) : wrong_script(random);
      if (candidate) return candidate;
    }
  }
  return std::nullopt;
}

std::optional<Candidate> NoisyNet::wrong_kernel(std::mt19937_64& random) const {
  auto choice = choose(healthy_, 20, true, random, {});
  if (!choice) return std::nullopt;
  return with(std::move(choice->faults), {std::move(choice->planted)});
}

std::optional<Candidate> NoisyNet::wrong_parameter(std::mt19937_64& random) const {
  const auto ref = static_cast<Ref>(random() % candidate_.values.size());
  const NetValue& value = candidate_.values[ref];
  if (value.from != NetValue::From::kParameter || value.name.starts_with("moment1.") ||
      value.name.starts_with("moment2.") || value.name.starts_with("moments."))
    return std::nullopt;
  Run run = run_of_candidate();
  Planted planted{"parameter", value.name, {value.name}, {value.name}, kLeastNoise, 0};
  run.parameters[ref] = wrong_values(value, random);
  planted.size = relative_error(run.parameters[ref], value.initial);
  for (const uint32_t reader : candidate_.readers(ref)) {
    planted.in_candidate.insert(candidate_.nodes[reader].name);
    const auto found = keys_.find(candidate_.nodes[reader].key);
    if (found != keys_.end()) planted.in_reference.insert(net_.nodes[found->second].name);
  }
  if (planted.in_reference.size() < 2 || planted.size < 0.05) return std::nullopt;
  return Candidate{candidate_, evaluate(candidate_, run), {std::move(planted)}};
}

std::optional<Candidate> NoisyNet::wrong_script(std::mt19937_64& random) const {
  const auto change = random_change(net_, random);
  if (!change) return std::nullopt;
  Candidate wrong;
  wrong.net = random_net(setting_.plan, scaled(setting_.loss_scale, change->change));
  Planted planted = answers_to(net_, wrong.net, candidate_, *change);
  wrong.values = evaluate(wrong.net, run_of_candidate());
  // It shows where an operator of the answer, or one that reads such, has both sides.
  std::map<std::string, uint32_t> healthy;
  for (uint32_t i = 0; i < candidate_.nodes.size(); ++i) healthy[candidate_.nodes[i].key] = i;
  for (uint32_t i = 0; i < wrong.net.nodes.size(); ++i) {
    const auto found = healthy.find(wrong.net.nodes[i].key);
    if (found == healthy.end() || !planted.in_candidate.contains(wrong.net.nodes[i].name)) continue;
    const double noise = std::max(error(candidate_, healthy_, found->second, 0), kLeastNoise);
    const double size = error(wrong.net, wrong.values, i, 0);
    if (planted.noise == 0 || size / noise > planted.ratio()) {
      planted.noise = noise;
      planted.size = size;
    }
  }
  if (planted.noise == 0 || planted.ratio() < 20 || planted.size < 0.01) return std::nullopt;
  wrong.faults = {std::move(planted)};
  return wrong;
}

}  // namespace msdump::noisy
