// How many CPUs this process may use: the smaller of its affinity mask and the CPU quota of its control group. A
// container with two CPUs on a host with 128 gets two threads.
#pragma once

#include <optional>
#include <string>

namespace msdump {

[[nodiscard]] unsigned usable_cpus();

// The smallest quota from the process's control group up to the root, rounded up to whole CPUs; no value when there is
// none. `root` is /sys/fs/cgroup and `membership` the text of /proc/self/cgroup; versions 1 and 2.
[[nodiscard]] std::optional<unsigned> cgroup_cpus(const std::string& root, const std::string& membership);

}  // namespace msdump
