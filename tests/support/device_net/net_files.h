// The files of both dumps of a random network, and which tensor of them is which.
#pragma once

#include <filesystem>
#include <vector>

#include "support/device_net/device_lowering.h"
#include "support/device_net/device_net.h"
#include "support/device_net/host_net.h"

namespace msdump::test {

// npy files below DIR/rank_0, with IR or without.
void write_host_dump(const HostNet& net, bool with_ir, const std::filesystem::path& dir, DeviceNet& truth);
// Ascend dump files below DIR, in the layout that begins with a time or that of ranks.
void write_device_dump(const HostNet& net, const std::vector<LoweredOp>& ops, bool by_time,
                       const std::filesystem::path& dir, DeviceNet& truth);

}  // namespace msdump::test
