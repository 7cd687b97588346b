#include "compare/match/device/outer_inputs.h"

#include <algorithm>
#include <set>

namespace msdump {
namespace {

std::set<uint64_t> slots_fed_inside(const DeviceMatch& match, uint32_t host, const SequenceFlow& flow) {
  std::set<uint64_t> slots;
  if (match.hosts.size() == 1) return slots;
  for (const auto& [slot, producer] : flow.producers(host)) {
    if (std::find(match.hosts.begin(), match.hosts.end(), producer) != match.hosts.end()) slots.insert(slot);
  }
  return slots;
}

// Without a data flow: does one of the first outputs of another of the operators have the same values?
bool is_output_inside(const DeviceMatch& match, uint32_t host, uint32_t tensor, const std::vector<Runs>& hosts,
                      const RunKey& key, MatchEvidence& evidence) {
  constexpr size_t kMostOutputs = 64;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const auto run = hosts[i].find(key);
    if (match.hosts[i] == host || run == hosts[i].end()) continue;
    const std::vector<uint32_t>& outputs = run->second.outputs;
    for (size_t k = 0; k < std::min(outputs.size(), kMostOutputs); ++k) {
      if (evidence.host_values.is_same(tensor, outputs[k])) return true;
    }
    if (outputs.size() > kMostOutputs) {
      evidence.limits.insert(
          {"device_outputs", kMostOutputs,
           "an input was not compared with all outputs of the operators that are one on the device"});
    }
  }
  return false;
}

}  // namespace

std::vector<HostInput> outer_inputs(const DeviceMatch& match, const std::vector<Runs>& hosts, const RunKey& key,
                                    MatchEvidence& evidence) {
  std::vector<HostInput> inputs;
  const SequenceFlow& flow = evidence.host_flow;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const auto run = hosts[i].find(key);
    if (run == hosts[i].end()) continue;
    const uint32_t host = match.hosts[i];
    const std::set<uint64_t> fed = slots_fed_inside(match, host, flow);
    for (const uint32_t tensor : run->second.inputs) {
      const auto slot = slot_of(evidence.host, tensor);
      const bool inside = (slot && fed.contains(*slot)) ||
                          (!flow.known() && is_output_inside(match, host, tensor, hosts, key, evidence));
      if (!inside) inputs.push_back({host, tensor});
    }
  }
  return inputs;
}

}  // namespace msdump
