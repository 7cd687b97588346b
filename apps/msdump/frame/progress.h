// Progress: a line on stderr while long work runs: files done, bytes per second, time left, the current name. It
// appears after half a second, changes at most six times a second and leaves no trace. There is no thread of its own: the
// work's own calls draw it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "frame/terminal.h"
#include "io/run_context.h"

namespace msdump::cli {

class Progress : public ProgressSink {
 public:
  using Clock = std::chrono::steady_clock;

  // `now` is replaced in tests.
  explicit Progress(Console& console, std::function<Clock::time_point()> now = Clock::now);
  ~Progress() override;

  // Off until enabled.
  void enable(bool on, size_t width);

  // Work inside other work is added to it, and the line stays until each has stopped.
  void start(uint64_t units_total, uint64_t bytes_total) override;
  void add_bytes(uint64_t bytes) override;
  void unit_done(std::string_view name) override;
  void stop() override;
  // Erases the line even if work still runs; called by the frame before the last messages.
  void finish();

 private:
  void erase();
  void maybe_draw();
  [[nodiscard]] std::string text(Clock::duration elapsed) const;

  Console& console_;
  std::function<Clock::time_point()> now_;
  bool enabled_ = false;
  size_t width_ = 80;
  Clock::time_point started_;
  std::atomic<Clock::rep> next_draw_ = 0;  // since the clock's epoch
  std::atomic<uint64_t> units_total_ = 0, bytes_total_ = 0, units_ = 0, bytes_ = 0;
  std::atomic<bool> running_ = false;
  std::mutex mutex_;  // guards the following members and drawing
  int users_ = 0;
  std::string name_;
};

}  // namespace msdump::cli
