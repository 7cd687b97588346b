// What a compiler for the device makes of a network: it renames, fuses, splits and inserts operators.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/device_net/device_net.h"
#include "support/device_net/host_net.h"
#include "support/device_net/net_random.h"

namespace msdump::test {

// An input or output of an operator of the host.
struct HostPlace {
  uint32_t op = 0, slot = 0;
};

struct LoweredTensor {
  std::optional<uint32_t> value;  // none: `own`, of the shape of one
  Floats own;
  std::optional<HostPlace> partner;
  std::set<Alone> alone;  // right reasons for having none
  std::string original;   // what the file says of its origin
  uint32_t original_output = 0;
};

struct LoweredOp {
  std::string type, name;
  std::vector<LoweredTensor> inputs, outputs;
  std::vector<HostPlace> lost_inputs, lost_outputs;  // of the host, when this one's file is missing
};

// How one compiler names and inserts.
struct CompilerStyle {
  explicit CompilerStyle(NetRandom& random);

  bool device_types_in_names;  // as MindSpore's own kernel graphs, which know no originals
  bool with_originals, originals_of_inserted, clear_casts;
};

// Operators in the order in which the device runs them. Adds the reasons for having no partner to those of the host.
[[nodiscard]] std::vector<LoweredOp> lower(HostNet& net, const CompilerStyle& style, const DeviceNetOptions& options,
                                           NetRandom& random);

}  // namespace msdump::test
