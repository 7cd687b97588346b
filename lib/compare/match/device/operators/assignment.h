// Decides which of several operators of the host meets which of several claims, both in the order of their dumps: in order
// where shapes and values do not contradict, else as values say; what is left, in order again.
#pragma once

#include <cstdint>
#include <vector>

#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operators/claims.h"
#include "compare/match/device/operators/host_operators.h"

namespace msdump {

enum class Care : uint8_t {
  kGuess,      // every claim that can be met is met
  kConfirmed,  // only by what values confirm, or by what stands alone on both sides
};

class ClaimAssigner {
 public:
  // The arguments outlive it.
  ClaimAssigner(Claims& claims, HostOperators& hosts, MatchEvidence& evidence)
      : claims_(claims), hosts_(hosts), evidence_(evidence) {}

  // Indices of claims that are not met, and operators that are not taken.
  void assign(std::vector<uint32_t> claims, std::vector<uint32_t> hosts, Care care);

 private:
  // These remove from the lists what they have met.
  void assign_side_by_side(std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts, Care care);
  void assign_by_outputs(std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts);
  void assign_by_inputs(std::vector<uint32_t>& claims, std::vector<uint32_t>& hosts, Care care);
  void assign_in_order(const std::vector<uint32_t>& claims, const std::vector<uint32_t>& hosts);

  Claims& claims_;
  HostOperators& hosts_;
  MatchEvidence& evidence_;
};

}  // namespace msdump
