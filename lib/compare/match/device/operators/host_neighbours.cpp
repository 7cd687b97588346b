#include "compare/match/device/operators/host_neighbours.h"

#include <algorithm>

namespace msdump {
namespace {

constexpr uint32_t kNear = 64;  // operators

}  // namespace

std::vector<uint32_t> HostNeighbours::producers_of(uint32_t host) {
  std::vector<uint32_t> found;
  for (const auto& [slot, producer] : evidence_.host_flow.producers(host)) found.push_back(producer);
  if (evidence_.host_flow.known()) return found;
  for (uint32_t before = host; before-- > 0 && host - before < kNear;) {
    if (!hosts_.is_taken(before) && feeds(before, host)) found.push_back(before);
  }
  return found;
}

std::vector<uint32_t> HostNeighbours::consumers_of(uint32_t host) {
  const auto known = evidence_.host_flow.consumers(host);
  std::vector<uint32_t> found(known.begin(), known.end());
  if (evidence_.host_flow.known()) return found;
  for (uint32_t after = host + 1; after < hosts_.size() && after - host < kNear; ++after) {
    if (!hosts_.is_taken(after) && feeds(host, after)) found.push_back(after);
  }
  return found;
}

uint32_t HostNeighbours::only_free_consumer(uint32_t host) {
  uint32_t found = kNoOperator;
  for (const uint32_t consumer : consumers_of(host)) {
    if (hosts_.is_taken(consumer) || consumer == found) continue;
    if (found != kNoOperator) return kNoOperator;
    found = consumer;
  }
  return found;
}

bool HostNeighbours::feeds(uint32_t producer, uint32_t consumer) {
  const auto output = evidence_.host_tensors.largest(producer, Io::kOutput);
  if (!output || hosts_.key(producer).rank != hosts_.key(consumer).rank) return false;
  const MatchSide& side = evidence_.host;
  const std::vector<uint32_t>& inputs = side.operators[consumer].tensors;
  return std::any_of(inputs.begin(), inputs.end(), [&](uint32_t input) {
    return side.tensor(input).name.io == Io::kInput && evidence_.host_values.is_same(*output, input);
  });
}

std::vector<uint32_t> HostNeighbours::chain_that_ends(const std::vector<std::string>& families, uint32_t end) {
  std::vector<uint32_t> chain = {end};
  for (size_t i = families.size() - 1; i-- > 0;) {
    const auto fits = [&](uint32_t host) {
      const bool used = hosts_.is_taken(host) || std::find(chain.begin(), chain.end(), host) != chain.end();
      return !used && hosts_.key(host).family == families[i] && hosts_.key(host).rank == hosts_.key(end).rank;
    };
    uint32_t found = kNoOperator;
    for (const uint32_t later : chain) {
      for (const uint32_t producer : producers_of(later)) {
        if (fits(producer)) found = producer;
      }
    }
    const bool guess = !evidence_.host_flow.known();
    for (uint32_t before = end; guess && found == kNoOperator && before-- > 0 && end - before < kNear;) {
      if (fits(before)) found = before;
    }
    if (found == kNoOperator) return {};
    chain.insert(chain.begin(), found);
  }
  return chain;
}

}  // namespace msdump
