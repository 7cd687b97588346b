// RunContext: what long work is given by the command that starts it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "io/worker_pool.h"

namespace msdump {

// A flag that a signal handler may set. Long work polls it between two slabs or files.
class CancelToken {
 public:
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }  // async-signal-safe
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  [[nodiscard]] Status check() const {
    if (cancelled()) return fail(ErrorCode::kCancelled, "interrupted");
    return {};
  }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free);
  std::atomic<bool> cancelled_ = false;
};

// Receives the progress of long work, from any thread.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void start(uint64_t units_total, uint64_t bytes_total) = 0;
  virtual void add_bytes(uint64_t bytes) = 0;         // bytes of input processed since the last call
  virtual void unit_done(std::string_view name) = 0;  // one file or tensor is finished
  virtual void stop() {}                              // the work that start() announced is over
};

class FactStore;  // results of other processes (parts/facts.h)

struct RunContext {
  WorkerPool& pool;
  const CancelToken& cancel;
  ProgressSink* progress = nullptr;
  FactStore* facts = nullptr;
};

}  // namespace msdump
