#include "io/cpus.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include <sched.h>

#include "base/text.h"

namespace msdump {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "QUOTA PERIOD" in microseconds; "max" and -1 mean no quota.
std::optional<unsigned> cpus_of(const std::string& quota_and_period) {
  std::istringstream words(quota_and_period);
  std::string quota_word, period_word;
  words >> quota_word >> period_word;
  const std::optional<uint64_t> quota = parse_u64(quota_word), period = parse_u64(period_word);
  if (!quota || !period || *period == 0) return std::nullopt;
  const uint64_t cpus = *quota / *period + (*quota % *period != 0 ? 1 : 0);
  return static_cast<unsigned>(std::clamp<uint64_t>(cpus, 1, 65535));
}

std::optional<unsigned> smaller(std::optional<unsigned> a, std::optional<unsigned> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// `read` gives the quota of one directory; every level above the process may have a limit.
template <class Read>
std::optional<unsigned> smallest_on_the_way(const std::string& top, std::string path, const Read& read) {
  std::optional<unsigned> found;
  while (!path.empty() && path != "/") {
    found = smaller(found, read(top + path));
    path.erase(path.rfind('/'));
  }
  return smaller(found, read(top));
}

}  // namespace

std::optional<unsigned> cgroup_cpus(const std::string& root, const std::string& membership) {
  const auto read_v2 = [](const std::string& dir) { return cpus_of(slurp(dir + "/cpu.max")); };
  const auto read_v1 = [](const std::string& dir) {
    return cpus_of(slurp(dir + "/cpu.cfs_quota_us") + " " + slurp(dir + "/cpu.cfs_period_us"));
  };
  std::optional<unsigned> found;
  for (const std::string_view line : split(membership, '\n')) {
    const std::vector<std::string_view> fields = split(line, ':');  // "0::/path", "4:cpu,cpuacct:/path"
    if (fields.size() < 3 || !fields[2].starts_with('/') || fields[2].find("..") != std::string_view::npos) continue;
    const std::string path(fields[2]);
    if (fields[1].empty()) {
      found = smaller(found, smallest_on_the_way(root, path, read_v2));
      continue;
    }
    const std::vector<std::string_view> controllers = split(fields[1], ',');
    if (std::find(controllers.begin(), controllers.end(), "cpu") == controllers.end()) continue;
    found = smaller(found, smallest_on_the_way(root + "/" + std::string(fields[1]), path, read_v1));
    found = smaller(found, smallest_on_the_way(root + "/cpu", path, read_v1));
  }
  return found;
}

unsigned usable_cpus() {
  unsigned cpus = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) cpus = std::max(1U, static_cast<unsigned>(CPU_COUNT(&mask)));
  const std::optional<unsigned> quota = cgroup_cpus("/sys/fs/cgroup", slurp("/proc/self/cgroup"));
  return quota ? std::min(cpus, *quota) : cpus;
}

}  // namespace msdump
