// The network as the host runs it: operators, their values, and which of them a device may have as one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/device_net/device_net.h"
#include "support/device_net/net_random.h"
#include "support/device_net/type_pairs.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::test {

using Floats = std::vector<float>;

// On both sides: the device computes with its own values.
struct NetValue {
  Shape shape;
  DType dtype = DType::kFloat32;
  Floats host, device;
  std::string operand;  // in the IR
  bool attribute = false;
};

struct HostOp {
  std::string type, device_type, scope;
  DeviceSlots slots;
  std::vector<uint32_t> inputs, outputs;  // values
  uint32_t number = 0, device_number = 0;
  uint64_t seed = 0;
  std::vector<std::set<Alone>> in_alone, out_alone;  // right reasons
};

// Operators that the device may have as one, in order. Nothing else reads what is between them.
using FusibleChain = std::vector<uint32_t>;

struct HostNet {
  [[nodiscard]] uint32_t output_of(uint32_t op) const { return ops[op].outputs[0]; }

  std::vector<NetValue> values;
  std::vector<HostOp> ops;
  std::vector<FusibleChain> chains;
  uint32_t next_device_number = 0;
};

[[nodiscard]] HostNet make_host_net(NetRandom& random, const DeviceNetOptions& options);

}  // namespace msdump::test
