#include "io/worker_pool.h"

#include <string>

#include <sched.h>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

TEST_CASE("the smallest quota from a control group to the root counts, in whole CPUs") {
  const ScratchDir scratch;
  const std::string root = scratch.path().string();
  const auto cpus = [&](const std::string& membership) { return cgroup_cpus(root, membership); };
  CHECK_FALSE(cpus("0::/a/b\n"));
  scratch.write("a/b/cpu.max", "max 100000\n");
  CHECK_FALSE(cpus("0::/a/b\n"));
  scratch.write("a/cpu.max", "250000 100000\n");
  CHECK(cpus("0::/a/b\n") == 3U);
  scratch.write("cpu.max", "400000 100000\n");
  CHECK(cpus("0::/a/b\n") == 3U);
  CHECK(cpus("0::/\n") == 4U);
  scratch.write("cpu.max", "200000 100000\n");
  CHECK(cpus("0::/a/b\n") == 2U);
  scratch.write("a/b/cpu.max", "1 100000\n");
  CHECK(cpus("0::/a/b\n") == 1U);
  scratch.write("a/b/cpu.max", "1 0\n");
  CHECK(cpus("0::/a/b\n") == 2U);
}

TEST_CASE("quotas of version 1 stand below the controllers' names or below cpu") {
  const ScratchDir scratch;
  const std::string root = scratch.path().string();
  const auto quota = [&](const std::string& folder, const char* cpus) {
    scratch.write(folder + "/cpu.cfs_quota_us", cpus);
    scratch.write(folder + "/cpu.cfs_period_us", "100000\n");
  };
  quota("cpu,cpuacct/a", "600000\n");
  CHECK(cgroup_cpus(root, "7:memory:/a\n4:cpu,cpuacct:/a\n") == 6U);
  CHECK_FALSE(cgroup_cpus(root, "7:memory,cpuset:/a\n"));
  quota("cpu", "500000\n");
  CHECK(cgroup_cpus(root, "4:cpu,cpuacct:/a\n") == 5U);
  quota("cpu/a", "-1\n");
  CHECK(cgroup_cpus(root, "4:cpu,cpuacct:/a\n") == 5U);
  scratch.write("a/cpu.max", "300000 100000\n");
  CHECK(cgroup_cpus(root, "4:cpu,cpuacct:/a\n0::/a\n") == 3U);
}

TEST_CASE("a control group outside of what is seen has no quota") {
  const ScratchDir scratch;
  scratch.write("cpu.max", "100000 100000\n");
  const std::string root = scratch.path().string();
  for (const char* membership : {"", "0::", "0::a", "0::/../a", "0:/", "\n"}) {
    INFO(membership);
    CHECK_FALSE(cgroup_cpus(root, membership));
  }
}

TEST_CASE("no more CPUs are used than the affinity mask has") {
  cpu_set_t before, one;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (unsigned cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const unsigned cpus = usable_cpus();
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
  CHECK(cpus == 1);
  CHECK(usable_cpus() <= static_cast<unsigned>(CPU_COUNT(&before)));
}

}  // namespace
}  // namespace msdump
