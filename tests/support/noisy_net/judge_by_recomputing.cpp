#include <algorithm>
#include <map>

#include "support/noisy_net/judge.h"

namespace msdump::noisy {
namespace {

// How far the outputs are from what the inputs give.
double own_error(const Candidate& candidate, uint32_t node) {
  KernelFault none;
  none.node = node;
  const auto exact = outputs_of(candidate.net, candidate.values[0], exact_arithmetic(), none);
  double worst = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const Numbers& got = candidate.values[0].values[candidate.net.nodes[node].outputs[i]].v;
    if (got.size() >= 8) worst = std::max(worst, relative_error(got, exact[i].v));
  }
  return worst;
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace

std::vector<Named> judge_by_recomputing(const Candidate& candidate) {
  const auto count = static_cast<uint32_t>(candidate.net.nodes.size());
  std::vector<double> errors(count);
  std::map<std::string, std::vector<double>> by_type;
  std::vector<double> all;
  const auto type_of = [&](uint32_t i) {
    const NetNode& node = candidate.net.nodes[i];
    return node.type + (node.backward ? "'" : "");
  };
  for (uint32_t i = 0; i < count; ++i) {
    errors[i] = own_error(candidate, i);
    if (errors[i] == 0) continue;
    by_type[type_of(i)].push_back(errors[i]);
    all.push_back(errors[i]);
  }
  std::vector<std::pair<double, uint32_t>> excess;
  for (uint32_t i = 0; i < count; ++i) {
    if (errors[i] == 0) continue;
    const std::vector<double>& siblings = by_type[type_of(i)];
    const double usual = median(siblings.size() > 3 ? siblings : all);
    if (errors[i] > 4 * usual) excess.emplace_back(errors[i] / usual, i);
  }
  std::stable_sort(excess.begin(), excess.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Named> result;
  for (const auto& [size, node] : excess) {
    Named named{-1, 0, candidate.net.nodes[node].name};
    for (size_t fault = 0; fault < candidate.faults.size(); ++fault) {
      if (candidate.faults[fault].in_candidate.contains(named.text)) named.fault = static_cast<int>(fault);
    }
    result.push_back(std::move(named));
  }
  return result;
}

}  // namespace msdump::noisy
