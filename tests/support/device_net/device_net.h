// Random networks, each as the dump of a host and as that of a device whose compiler has renamed, split, fused and inserted
// operators; and which tensor is which, known from how they were made.
//
// The host's files are those of MindSpore on a CPU, half of the networks with IR; the device's are Ascend dump files of
// float16. Types and slots are those of ge/operators/operators.csv, names those of reference/ge-operators.md 3.
// The device computes with its own values, so that its error grows and a fault spreads as in a real run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compare/match/pairing.h"

namespace msdump::test {

// A tensor of a dump.
struct NetTensor {
  std::string file;  // name without folders
  Io io = Io::kInput;
  uint32_t slot = 0;
  auto operator<=>(const NetTensor&) const = default;
};

struct DeviceNet {
  struct Device {
    std::optional<NetTensor> partner;  // of the host
    std::set<Alone> alone;             // right reasons for having none; empty: it has to have its partner
  };
  std::map<NetTensor, Device> device;
  std::map<NetTensor, std::set<Alone>> host;  // likewise; kUnknown where no reason is known
};

struct DeviceNetOptions {
  uint32_t scopes = 4, operators = 10;  // about so many operators in each scope
  bool faults = true;                   // and files that are missing
};

// Writes DIR/host and DIR/device.
[[nodiscard]] DeviceNet write_device_net(uint64_t seed, const std::filesystem::path& dir,
                                         const DeviceNetOptions& options = {});

}  // namespace msdump::test
