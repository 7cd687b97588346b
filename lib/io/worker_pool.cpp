#include "io/worker_pool.h"

#include <algorithm>
#include <exception>
#include <system_error>

namespace msdump {

struct WorkerPool::Loop {
  Loop(const std::function<void(int64_t)>& loop_body, int64_t loop_count) : body(loop_body), count(loop_count) {}
  const std::function<void(int64_t)>& body;
  const int64_t count;
  int64_t next = 0;     // first index nobody has taken
  int64_t running = 0;  // taken and not finished
  std::exception_ptr failure;
  std::condition_variable finished;
};

WorkerPool::WorkerPool(unsigned jobs) {
  try {
    for (unsigned i = 1; i < jobs; ++i) threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // The system refuses more threads: work with those that exist.
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
    // The innermost loop first: an outer loop waits for it.
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
