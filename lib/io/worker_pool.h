// WorkerPool: a fixed number of threads that share loops.
//
// The one primitive is a loop over [0, count). The calling thread works on it, idle workers join it, and the call returns
// when every index is done. Loops may nest (files, and slabs of a file): the caller always works on its own loop, so that
// nesting cannot deadlock. Results do not depend on the number of jobs.
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

// The smaller of the affinity mask and the CPU quota of the control group. A container with two CPUs on a host with 128 gets
// two threads.
[[nodiscard]] unsigned usable_cpus();

// The smallest quota from the control group of the process up to the root, rounded up; no value if there is none. `root` is
// /sys/fs/cgroup and `membership` the text of /proc/self/cgroup; versions 1 and 2.
[[nodiscard]] std::optional<unsigned> cgroup_cpus(const std::string& root, const std::string& membership);

class WorkerPool {
 public:
  explicit WorkerPool(unsigned jobs);  // includes the caller; fewer if the system refuses threads
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  [[nodiscard]] unsigned jobs() const { return jobs_; }

  // Calls body(i) once for each i in [0, count), at most `jobs` at a time, started in ascending order. After an exception
  // of a body no further index is started; it is rethrown here.
  void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

  // Calls work(i) -> R in parallel and collect(i, R&&) in ascending order of i, one at a time. No index starts more than
  // `window` ahead of the first that is not collected yet.
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
