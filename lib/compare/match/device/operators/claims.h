// Claims: which operators of the network the operators of a device dump stand for, as their names, files and types say.
// Which operators of the host meet the claims is found by rewrites.h, assignment.h and device_match.cpp.
//
//   1. A name of one operator or of several claims each of them (device_name.h)
//   2. Where the type is not that of the only name, an operator of the type is fused with the named one and comes first
//   3. The file of the first output may say what the last operator was
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compare/match/device/device_name.h"
#include "compare/match/device/match_evidence.h"
#include "compare/match/device/operators/host_operators.h"
#include "compare/match/op_sequence.h"
#include "ge/operators/operator_table.h"

namespace msdump {

struct Claim {
  [[nodiscard]] bool is_met() const { return host != kNoOperator; }

  uint32_t device = 0;    // operator
  OpKey key;              // of what is claimed
  OriginalName original;  // empty type: only the type says so, or it is a parameter
  bool is_last = false;   // of its device operator, whose outputs are those of what it claims

  // What has met it.
  uint32_t host = kNoOperator;           // operator; the last of `rewritten`
  bool is_part = false;                  // of `host`, for which other device operators stand, too
  const ge::Rewrite* rewrite = nullptr;  // that explains the claim, if one does
  uint32_t part = 0;                     // which of the device operators of `rewrite` this is
  std::vector<uint32_t> rewritten;       // the operators of the host that `rewrite` replaced
};

class Claims {
 public:
  Claims(const MatchEvidence& evidence, const HostOperators& hosts);

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(all_.size()); }
  [[nodiscard]] Claim& operator[](uint32_t index) { return all_[index]; }
  [[nodiscard]] const Claim& operator[](uint32_t index) const { return all_[index]; }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }

  // Of a device operator, in the order of the data flow.
  [[nodiscard]] std::span<Claim> of(uint32_t device) {
    return std::span(all_).subspan(first_[device], first_[device + 1] - first_[device]);
  }
  // nullptr: it claims nothing.
  [[nodiscard]] Claim* last_of(uint32_t device) {
    const std::span<Claim> claims = of(device);
    return claims.empty() ? nullptr : &claims.back();
  }

 private:
  std::vector<Claim> all_;       // by device operator
  std::vector<uint32_t> first_;  // of each, and one more
};

// The operator is taken: it meets no other claim afterwards.
inline void meet(Claim& claim, uint32_t host, HostOperators& hosts) {
  claim.host = host;
  hosts.take(host);
}

}  // namespace msdump
