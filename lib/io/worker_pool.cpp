#include "io/worker_pool.h"

#include <sched.h>
#include <algorithm>
#include <exception>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

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

// The smallest quota of a directory and its parents. read(directory) returns that of one.
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

struct WorkerPool::Loop {
  Loop(const std::function<void(int64_t)>& loop_body, int64_t loop_count) : body(loop_body), count(loop_count) {}
  const std::function<void(int64_t)>& body;
  const int64_t count;
  int64_t next = 0;     // first index that is not taken
  int64_t running = 0;  // indices taken and not finished
  std::exception_ptr failure;
  std::condition_variable finished;
};

WorkerPool::WorkerPool(unsigned jobs) {
  try {
    for (unsigned i = 1; i < jobs; ++i) threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // The system refuses more threads: continue with fewer.
  }
  jobs_ = static_cast<unsigned>(threads_.size()) + 1;
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_or_stop_.notify_all();
  threads_.clear();  // joins before the members that the threads use are destroyed
}

// Takes one index of `loop` and runs it with the lock released.
void WorkerPool::run_index(Loop& loop, std::unique_lock<std::mutex>& lock) {
  const int64_t index = loop.next++;
  ++loop.running;
  lock.unlock();
  std::exception_ptr failure;
  try {
    loop.body(index);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --loop.running;
  if (failure) {
    if (!loop.failure) loop.failure = failure;
    loop.next = loop.count;  // starts no further index
  }
  if (loop.running == 0 && loop.next >= loop.count) loop.finished.notify_all();
}

void WorkerPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // The innermost loop comes first, because outer loops wait for it.
    const auto open =
        std::find_if(loops_.rbegin(), loops_.rend(), [](const Loop* loop) { return loop->next < loop->count; });
    if (open != loops_.rend()) {
      run_index(**open, lock);
    } else if (stop_) {
      return;
    } else {
      work_or_stop_.wait(lock);
    }
  }
}

void WorkerPool::parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (count <= 0) return;
  Loop loop(body, count);
  std::unique_lock lock(mutex_);
  const auto place = loops_.insert(loops_.end(), &loop);
  if (count > 1 && jobs_ > 1) work_or_stop_.notify_all();
  while (loop.next < loop.count) run_index(loop, lock);
  loop.finished.wait(lock, [&] { return loop.running == 0; });
  loops_.erase(place);
  if (loop.failure) std::rethrow_exception(loop.failure);
}

}  // namespace msdump
