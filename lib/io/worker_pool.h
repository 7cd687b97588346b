// How many CPUs this process may use: the smaller of its affinity mask and the CPU quota of its control group. A
// container with two CPUs on a host with 128 gets two threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace msdump {

[[nodiscard]] unsigned usable_cpus();

// The smallest quota from the process's control group up to the root, rounded up to whole CPUs; no value when there is
// none. `root` is /sys/fs/cgroup and `membership` the text of /proc/self/cgroup; versions 1 and 2.
[[nodiscard]] std::optional<unsigned> cgroup_cpus(const std::string& root, const std::string& membership);

// WorkerPool: a fixed number of threads that share loops.
//
// The one primitive is a loop over [0, count): the calling thread works on it too, idle workers join it, and the call
// returns when every index is done. Loops nest (a file is one index of an outer loop, its slabs are an inner loop); since
// the caller always works on its own loop, nesting cannot deadlock. With one job everything runs on the caller.
//
// Results are independent of the number of jobs: `ordered_for` hands results on in index order whatever finishes first.

class WorkerPool {
 public:
  explicit WorkerPool(unsigned jobs);  // includes the caller; fewer when the system refuses more threads
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] unsigned jobs() const { return jobs_; }

  // Calls body(i) once for each i in [0, count), at most `jobs` at a time, started in ascending order. An exception of a
  // body stops further indices from being started and is rethrown here.
  void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

  // work(i) -> R in parallel, then collect(i, R&&) in ascending order of i, one at a time. Results that wait for an
  // earlier index are held; a worker may not start more than `window` ahead of the first index not yet collected.
  template <class Work, class Collect>
  void ordered_for(int64_t count, Work&& work, Collect&& collect, int64_t window = 4096) {
    using R = std::invoke_result_t<Work&, int64_t>;
    std::mutex mutex;
    std::condition_variable advanced;
    std::map<int64_t, R> waiting;
    int64_t next = 0;
    bool collecting = false, abandoned = false;
    const auto body = [&](int64_t index) {
      try {
        {
          std::unique_lock lock(mutex);
          advanced.wait(lock, [&] { return abandoned || index < next + window; });
        }
        R result = work(index);
        std::unique_lock lock(mutex);
        waiting.emplace(index, std::move(result));
        if (collecting) return;  // the collecting thread takes this result too
        collecting = true;
        for (auto first = waiting.find(next); first != waiting.end(); first = waiting.find(next)) {
          auto node = waiting.extract(first);
          lock.unlock();
          collect(node.key(), std::move(node.mapped()));
          lock.lock();
          ++next;
          advanced.notify_all();
        }
        collecting = false;
      } catch (...) {
        const std::lock_guard lock(mutex);
        abandoned = true;
        advanced.notify_all();
        throw;
      }
    };
    parallel_for(count, body);
  }

 private:
  struct Loop;
  void serve();
  static void run_index(Loop& loop, std::unique_lock<std::mutex>& lock);

  unsigned jobs_ = 1;
  std::mutex mutex_;
  std::condition_variable work_or_stop_;
  std::list<Loop*> loops_;  // those with indices left, innermost last
  bool stop_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace msdump
