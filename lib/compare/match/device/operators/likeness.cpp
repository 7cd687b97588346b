#include "compare/match/device/operators/likeness.h"

#include <algorithm>

namespace msdump {
namespace {

// Without attributes; the first of many.
std::vector<uint32_t> compared_inputs(const MatchSide& side, uint32_t op) {
  constexpr size_t kMost = 8;
  std::vector<uint32_t> inputs;
  for (const uint32_t tensor : side.operators[op].tensors) {
    const TensorRecord& record = side.tensor(tensor);
    if (record.name.io == Io::kInput && !may_be_attribute(record) && inputs.size() < kMost) inputs.push_back(tensor);
  }
  return inputs;
}

}  // namespace

bool same_count(uint32_t device_tensor, uint32_t host_tensor, const MatchEvidence& evidence) {
  return same_elements(evidence.device.tensor(device_tensor), evidence.host.tensor(host_tensor));
}

Fit fit_of(const Claim& claim, uint32_t host, MatchEvidence& evidence) {
  Fit fit;
  for (const Io io : {Io::kOutput, Io::kInput}) {
    if (io == Io::kOutput && !claim.is_last) continue;
    const auto a = evidence.device_tensors.largest(claim.device, io), b = evidence.host_tensors.largest(host, io);
    if (!a || !b) continue;
    if (io == Io::kOutput) fit.shapes = same_count(*a, *b, evidence);
    if (!fit.shapes) return fit;
    fit.values = evidence.values.similarity(*a, *b);
    if (fit.values) return fit;
  }
  return fit;
}

std::optional<double> likeness_of_output(uint32_t device_tensor, uint32_t host, MatchEvidence& evidence) {
  const auto output = evidence.host_tensors.largest(host, Io::kOutput);
  return output ? evidence.values.similarity(device_tensor, *output) : std::nullopt;
}

double likeness_of_inputs(uint32_t device, uint32_t host, MatchEvidence& evidence) {
  const std::vector<uint32_t> a = compared_inputs(evidence.device, device), b = compared_inputs(evidence.host, host);
  if (a.empty() || b.empty()) return 0;
  const bool by_device = a.size() <= b.size();
  double sum = 0;
  for (const uint32_t one : by_device ? a : b) {
    double best = 0;
    for (const uint32_t other : by_device ? b : a) {
      const uint32_t x = by_device ? one : other, y = by_device ? other : one;
      if (same_count(x, y, evidence)) best = std::max(best, evidence.values.similarity(x, y).value_or(0));
    }
    sum += best >= kAlike ? best : best / 10;
  }
  return sum / static_cast<double>(std::min(a.size(), b.size()));
}

}  // namespace msdump
