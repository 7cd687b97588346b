#include "compare/match/device/device_op_pairs.h"

#include <algorithm>
#include <tuple>

namespace msdump {

DeviceOpPairs::DeviceOpPairs(const std::vector<DeviceMatch>& matches, uint32_t hosts, bool device_is_a)
    : matches_(matches), device_is_a_(device_is_a), partner_(hosts, kNoOperator) {
  choose_partners();
  list_pairs();
  sort_pairs();
  of_host_.resize(partner_.size());
  alone_.resize(matches.size());
  for (uint32_t i = 0; i < pairs_.size(); ++i) {
    const uint32_t device = device_is_a ? pairs_[i].a : pairs_[i].b, host = device_is_a ? pairs_[i].b : pairs_[i].a;
    (host != kNoOperator ? of_host_[host] : alone_[device]) = i;
  }
}

void DeviceOpPairs::choose_partners() {
  std::vector<uint32_t> first_output(partner_.size(), UINT32_MAX);  // that the partner has
  for (uint32_t device = 0; device < matches_.size(); ++device) {
    const DeviceMatch& match = matches_[device];
    for (const uint32_t host : match.hosts) {
      uint32_t output = UINT32_MAX - 1;
      if (match.outputs_in_order && host == match.hosts.back()) output = 0;
      for (const MatchedOutput& one : match.outputs) {
        if (one.host == host) output = std::min(output, one.host_output);
      }
      if (output > first_output[host] && partner_[host] != kNoOperator) continue;
      first_output[host] = output;
      partner_[host] = device;
    }
  }
}

OpPair DeviceOpPairs::pair_of(uint32_t device, uint32_t host) const {
  OpPair pair;
  (device_is_a_ ? pair.a : pair.b) = device;
  (device_is_a_ ? pair.b : pair.a) = host;
  if (device != kNoOperator && host != kNoOperator) {
    pair.how = matches_[device].sure ? PairedBy::kCompiler : PairedBy::kValues;
    pair.confidence = confidence(pair.how);
  }
  return pair;
}

void DeviceOpPairs::list_pairs() {
  std::vector<bool> has_pair(matches_.size(), false);
  for (uint32_t host = 0; host < partner_.size(); ++host) {
    pairs_.push_back(pair_of(partner_[host], host));
    if (partner_[host] != kNoOperator) has_pair[partner_[host]] = true;
  }
  for (uint32_t device = 0; device < has_pair.size(); ++device) {
    if (!has_pair[device]) pairs_.push_back(pair_of(device, kNoOperator));
  }
}

void DeviceOpPairs::sort_pairs() {
  const size_t count_a = device_is_a_ ? matches_.size() : partner_.size();
  std::vector<uint32_t> after(count_a, 0);  // the place in b, plus 1, that an operator of a comes after
  for (const OpPair& pair : pairs_) {
    if (pair.a != kNoOperator && pair.b != kNoOperator) after[pair.a] = std::max(after[pair.a], pair.b + 1);
  }
  for (size_t i = 1; i < after.size(); ++i) {
    if (after[i] == 0) after[i] = after[i - 1];
  }
  const auto key = [&](const OpPair& pair) {
    return pair.b != kNoOperator ? std::tuple(pair.b + 1, 0, pair.a) : std::tuple(after[pair.a], 1, pair.a);
  };
  std::sort(pairs_.begin(), pairs_.end(), [&](const OpPair& x, const OpPair& y) { return key(x) < key(y); });
}

uint32_t DeviceOpPairs::of_device(uint32_t device) const {
  const DeviceMatch& match = matches_[device];
  for (size_t i = match.hosts.size(); i-- > 0;) {
    if (partner_[match.hosts[i]] == device) return of_host(match.hosts[i]);
  }
  return alone_[device];
}

}  // namespace msdump
