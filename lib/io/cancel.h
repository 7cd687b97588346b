// CancelToken: one flag that a signal handler may set and long work polls between two slabs or files.
#pragma once

#include <atomic>

#include "base/error.h"

namespace msdump {

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

}  // namespace msdump
