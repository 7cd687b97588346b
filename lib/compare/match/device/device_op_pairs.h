// DeviceOpPairs: the operators of both dumps as pairs. An operator of the host has the device operator that has its first
// output, else another one that stands for it; a device operator without one stands alone.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/device/device_match.h"
#include "compare/match/pairing.h"

namespace msdump {

class DeviceOpPairs {
 public:
  DeviceOpPairs(const std::vector<DeviceMatch>& matches, uint32_t hosts, bool device_is_a);

  // In the order of b; an operator of a alone follows its predecessor in a.
  [[nodiscard]] const std::vector<OpPair>& pairs() const { return pairs_; }
  // Of an operator of the host; kNoOperator: none.
  [[nodiscard]] uint32_t partner(uint32_t host) const { return partner_[host]; }
  // The pair of an operator of the host, and that of a device operator whose tensor has no partner: its last one.
  [[nodiscard]] uint32_t of_host(uint32_t host) const { return of_host_[host]; }
  [[nodiscard]] uint32_t of_device(uint32_t device) const;

 private:
  void choose_partners();
  void list_pairs();
  void sort_pairs();
  [[nodiscard]] OpPair pair_of(uint32_t device, uint32_t host) const;

  const std::vector<DeviceMatch>& matches_;
  const bool device_is_a_;
  std::vector<uint32_t> partner_;  // by operator of the host
  std::vector<OpPair> pairs_;
  std::vector<uint32_t> of_host_, alone_;  // in pairs_: by operator of the host; by device operator without one
};

}  // namespace msdump
