#include <algorithm>
#include <utility>

#include "compare/limits.h"
#include "compare/match/device/device_match.h"
#include "compare/sample/best_pairs.h"
#include "ge/operators/operator_table.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

constexpr size_t kMostCells = size_t{1} << 20;  // of a table of all pairs; with more, inputs are paired in order

class InputMatcher {
 public:
  InputMatcher(MatchEvidence& evidence, const std::vector<RecordId>& device, const std::vector<RecordId>& host)
      : evidence_(evidence), device_(device), host_(host) {}

  // Matches by the table, else by form.
  [[nodiscard]] InputMatch match(std::string_view device_type, std::string_view host_type, bool sure) const {
    InputMatch map = best_match(device_type, host_type, sure);
    // The table of another version may have a tensor in the slot of an attribute here.
    for (size_t i = 0; i < map.size(); ++i) {
      if (map[i] && may_be_attribute(evidence_.host.tensor(host_[i])) && !can_be(*map[i], i)) map[i].reset();
    }
    return map;
  }

 private:
  [[nodiscard]] InputMatch best_match(std::string_view device_type, std::string_view host_type, bool sure) const {
    std::vector<InputMatch> maps;  // those with the best score
    double best = -1;
    if (!device_type.empty()) {
      for (const ge::InputRule& rule : ge::OperatorTable::get().input_rules(host_type, device_type)) {
        auto map = map_by(rule);
        const double score = map ? score_of(*map) : -2;
        if (score < best) continue;
        if (score > best) maps.clear();
        best = score;
        if (std::find(maps.begin(), maps.end(), *map) == maps.end()) maps.push_back(std::move(*map));
      }
    }
    if (maps.empty()) return by_form(sure);
    return *std::max_element(maps.begin(), maps.end(), [&](const InputMatch& x, const InputMatch& y) {
      return score_by_values(x) < score_by_values(y);
    });
  }

  // Maps by the rule, else with fewer inputs: the rule may be of a version that had fewer attributes at the end.
  [[nodiscard]] std::optional<InputMatch> map_by(const ge::InputRule& rule) const {
    for (size_t inputs = host_.size();; --inputs) {
      if (auto map = slot_map(rule, static_cast<uint32_t>(inputs), static_cast<uint32_t>(device_.size()))) {
        map->resize(host_.size());
        return map;
      }
      if (inputs == 0 || host_.size() - inputs == kMostTried) return std::nullopt;
      if (!may_be_attribute(evidence_.host.tensor(host_[inputs - 1]))) return std::nullopt;
    }
  }

  // True if shape and dtype allow the same values.
  [[nodiscard]] bool can_be(size_t device, size_t host) const {
    const TensorRecord& a = evidence_.device.tensor(device_[device]);
    const TensorRecord& b = evidence_.host.tensor(host_[host]);
    if (!same_elements(a, b)) return false;
    const DTypeKind kind = kind_of(a.name.dtype), other = kind_of(b.name.dtype);
    return a.name.dtype == DType::kUndefined || b.name.dtype == DType::kUndefined || kind == other;
  }

  // How well a map fits. An input that can be its partner counts 1; one that cannot, or that has none, counts less than 0.
  [[nodiscard]] double score_of(const InputMatch& map) const {
    double sum = 0;
    std::vector<bool> used(device_.size(), false);
    for (size_t i = 0; i < map.size(); ++i) {
      if (!map[i]) {
        if (!may_be_attribute(evidence_.host.tensor(host_[i]))) sum -= 1;
        continue;
      }
      sum += can_be(*map[i], i) ? 1 : -2;
      used[*map[i]] = true;
    }
    for (size_t j = 0; j < used.size(); ++j) {
      if (!used[j] && !may_be_attribute(evidence_.device.tensor(device_[j]))) sum -= 1;
    }
    return sum;
  }

  // The score by values. An input whose values are unknown counts 0.5.
  [[nodiscard]] double score_by_values(const InputMatch& map) const {
    double sum = 0;
    for (size_t i = 0; i < map.size(); ++i) {
      if (map[i]) sum += similarity(*map[i], i).value_or(0.5);
    }
    return sum;
  }

  // Matches without a table: finds the best map that keeps the order, then lets values correct it.
  [[nodiscard]] InputMatch by_form(bool sure) const {
    InputMatch map(host_.size());
    const size_t n = host_.size(), m = device_.size();
    if (n * m > kMostCells) {
      evidence_.limits.insert(
          {"device_input_pairs", kMostCells, "inputs of an operator were paired in their order alone"});
      return in_order();
    }
    const bool few = n <= kMostTried && m <= kMostTried;
    if (!few)
      evidence_.limits.insert({"device_inputs", kMostTried, "inputs of an operator were paired without their values"});
    std::vector<size_t> of_host(n, 0), of_device(m, 0);  // inputs of the other side that each can be
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < m; ++j) {
        if (!can_be(j, i)) continue;
        ++of_host[i];
        ++of_device[j];
      }
    }
    std::vector<std::vector<double>> gain(n, std::vector<double>(m, -1));
    std::vector<std::vector<double>> best(n + 1, std::vector<double>(m + 1, 0));
    for (size_t i = n; i-- > 0;) {
      for (size_t j = m; j-- > 0;) {
        const bool only_pair = of_host[i] == 1 && of_device[j] == 1;
        if (can_be(j, i)) gain[i][j] = gain_of(few ? similarity(j, i) : std::nullopt, sure && !only_pair);
        best[i][j] = std::max({best[i + 1][j], best[i][j + 1], gain[i][j] + best[i + 1][j + 1]});
      }
    }
    for (size_t i = 0, j = 0; i < n && j < m;) {
      if (gain[i][j] > 0 && best[i][j] == gain[i][j] + best[i + 1][j + 1]) {
        map[i++] = static_cast<uint32_t>(j++);
      } else if (best[i][j] == best[i + 1][j]) {
        ++i;
      } else {
        ++j;
      }
    }
    if (few) improve(map);
    if (few && !sure) pair_rest(map);
    return map;
  }

  // Matches each input with the next of the other side. If the two cannot be the same, skips an attribute.
  [[nodiscard]] InputMatch in_order() const {
    InputMatch map(host_.size());
    for (size_t i = 0, j = 0; i < host_.size() && j < device_.size();) {
      if (can_be(j, i)) {
        map[i++] = static_cast<uint32_t>(j++);
      } else if (may_be_attribute(evidence_.host.tensor(host_[i]))) {
        ++i;
      } else {
        if (!may_be_attribute(evidence_.device.tensor(device_[j]))) ++i;
        ++j;
      }
    }
    return map;
  }

  // A pair that values contradict stays possible, because an input may be wrong.
  static double gain_of(std::optional<double> value, bool sure) {
    if (sure && value.value_or(0) < kAlike) return -1;
    if (!value) return 1;
    return *value < 0.5 ? 0.1 : 0.5 + *value;
  }

  [[nodiscard]] std::optional<double> similarity(size_t device, size_t host) const {
    return evidence_.likeness_of(device_[device], host_[host]);
  }

  // Pairs inputs whose values agree although their order differs.
  void improve(InputMatch& map) const {
    std::vector<bool> is_sure(device_.size(), false);
    for (uint32_t i = 0; i < map.size(); ++i) {
      if (map[i] && similarity(*map[i], i).value_or(0) >= kAlike) is_sure[*map[i]] = true;
    }
    std::vector<RatedPair> pairs;
    for (uint32_t i = 0; i < map.size(); ++i) {
      for (uint32_t j = 0; j < device_.size(); ++j) {
        if (is_sure[j] || (map[i] && is_sure[*map[i]]) || !can_be(j, i)) continue;
        const auto value = similarity(j, i);
        if (value && *value >= kAlike) pairs.push_back({*value, i, j});
      }
    }
    for (const RatedPair& pair : best_pairs(std::move(pairs))) {
      std::replace(map.begin(), map.end(), std::optional(pair.b), std::optional<uint32_t>());
      map[pair.a] = pair.b;
    }
  }

  // Pairs what is left, whatever order and values say: the last resort.
  void pair_rest(InputMatch& map) const {
    for (uint32_t j = 0; j < device_.size(); ++j) {
      if (std::find(map.begin(), map.end(), j) != map.end()) continue;
      for (uint32_t i = 0; i < map.size(); ++i) {
        if (map[i] || !can_be(j, i)) continue;
        map[i] = j;
        break;
      }
    }
  }

  MatchEvidence& evidence_;
  const std::vector<RecordId>&device_, &host_;
};

}  // namespace

InputMatch match_inputs(MatchEvidence& evidence, const std::vector<RecordId>& device, const std::vector<RecordId>& host,
                        std::string_view device_type, std::string_view host_type, bool sure) {
  return InputMatcher(evidence, device, host).match(device_type, host_type, sure);
}

}  // namespace msdump
