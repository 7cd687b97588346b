#include "support/device_net/device_net.h"

#include "support/device_net/device_lowering.h"
#include "support/device_net/host_net.h"
#include "support/device_net/net_files.h"
#include "support/device_net/net_random.h"

namespace msdump::test {

DeviceNet write_device_net(uint64_t seed, const std::filesystem::path& dir, const DeviceNetOptions& options) {
  NetRandom random(seed);
  const CompilerStyle style(random);
  HostNet net = make_host_net(random, options);
  const std::vector<LoweredOp> lowered = lower(net, style, options, random);
  DeviceNet truth;
  write_host_dump(net, seed % 2 == 0, dir / "host", truth);
  write_device_dump(net, lowered, seed % 4 < 2, dir / "device", truth);
  return truth;
}

}  // namespace msdump::test
