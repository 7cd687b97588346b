#include "frame/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/messages.h"

namespace msdump::cli {
namespace {

constexpr std::chrono::milliseconds kDelay{500};
constexpr std::chrono::milliseconds kPeriod{167};  // six a second

std::string duration_text(double seconds) {
  const long total = std::lround(std::min(seconds, 359999.0));
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

uint64_t percent(uint64_t part, uint64_t whole) {
  return static_cast<uint64_t>(100.0 * static_cast<double>(std::min(part, whole)) / static_cast<double>(whole));
}

std::string cut(const std::string& text, size_t width) {
  size_t end = 0, used = 0;
  while (end < text.size()) {
    const size_t length = std::max<size_t>(utf8_sequence_length(text, end), 1);
    const size_t columns = display_width(std::string_view(text).substr(end, length));
    if (used + columns > width) break;
    used += columns;
    end += length;
  }
  return text.substr(0, end);
}

}  // namespace

Progress::Progress(Console& console, std::function<Clock::time_point()> now)
    : console_(console), now_(std::move(now)) {}

Progress::~Progress() { finish(); }

void Progress::enable(bool on, size_t width) {
  enabled_ = on;
  width_ = width;
}

void Progress::start(uint64_t units_total, uint64_t bytes_total) {
  const std::lock_guard lock(mutex_);
  if (users_++ == 0) {
    units_total_ = bytes_total_ = units_ = bytes_ = 0;
    started_ = now_();
    next_draw_ = (started_ + kDelay).time_since_epoch().count();
    running_ = enabled_;
  }
  units_total_ += units_total;
  bytes_total_ += bytes_total;
}

void Progress::add_bytes(uint64_t bytes) {
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  maybe_draw();
}

void Progress::unit_done(std::string_view name) {
  units_.fetch_add(1, std::memory_order_relaxed);
  log_detail(name);
  if (running_) {
    const std::lock_guard lock(mutex_);
    name_ = name;
  }
  maybe_draw();
}

void Progress::stop() {
  const std::lock_guard lock(mutex_);
  if (users_ > 0) --users_;
  if (users_ == 0) erase();
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  users_ = 0;
  erase();
}

void Progress::erase() {
  if (running_.exchange(false)) console_.status("");
}

void Progress::maybe_draw() {
  if (!running_) return;
  const Clock::time_point now = now_();
  Clock::rep due = next_draw_;
  // Several threads may find the line due; the first one to change the time draws it.
  if (now.time_since_epoch().count() < due) return;
  if (!next_draw_.compare_exchange_strong(due, (now + kPeriod).time_since_epoch().count())) return;
  const std::lock_guard lock(mutex_);
  if (running_) console_.status(cut(text(now - started_), width_ - 1));
}

std::string Progress::text(Clock::duration elapsed) const {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const uint64_t bytes = bytes_, bytes_total = bytes_total_, units_total = units_total_;
  const double rate = seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
  std::string text = fmt::format("{}", units_.load());
  if (units_total > 0) text += fmt::format("/{}", units_total);
  if (bytes_total > 0) text += fmt::format("  {}%", percent(bytes, bytes_total));
  text += fmt::format("  {}  {}/s", human_bytes(bytes), human_bytes(static_cast<uint64_t>(rate)));
  if (rate > 0 && bytes_total > bytes) {
    text += fmt::format("  {} left", duration_text(static_cast<double>(bytes_total - bytes) / rate));
  }
  return text + "  " + escape_for_terminal(name_);
}

}  // namespace msdump::cli
