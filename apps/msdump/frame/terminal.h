// The terminal and the two output streams.
//
//   TerminalFacts   what the streams and the environment are, looked at once
//   Output          results to stdout: buffered; a reader that has gone (`| head`) stops the run quietly, a full disk is
//                   an error that the caller sees
//   Console         the only writer of stderr: whole lines and one status line that is erased before anything else is
//                   printed. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "report/row_sink.h"

namespace msdump::cli {

enum class When : uint8_t { kAuto, kNever, kAlways };

[[nodiscard]] std::optional<std::string> environment(const char* name);

struct TerminalFacts {
  bool out_tty = false, err_tty = false;
  size_t out_width = 80, err_width = 80;
  bool dumb = false;      // TERM=dumb or none
  bool no_color = false;  // NO_COLOR is set and not empty
  bool ci = false;        // CI is set and not empty
};

[[nodiscard]] TerminalFacts look_at_terminal(int out_fd, int err_fd);

// An explicit choice wins over the environment.
[[nodiscard]] bool use_color(When when, bool tty, const TerminalFacts& facts);
[[nodiscard]] bool use_progress(When when, bool quiet, const TerminalFacts& facts);

// Descriptors 0, 1 and 2 that the caller closed are filled with /dev/null, so that no file msdump opens can become its
// stdout. A stdout filled this way refuses writes: results that cannot be printed are an error. Also ignores SIGPIPE.
void claim_standard_streams();

class Output : public report::TextOutput {
 public:
  explicit Output(int fd, bool tty = false) : fd_(fd), tty_(tty) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() override;

  // Called before bytes leave: whoever shows a status line on the same terminal erases it.
  void before_write(std::function<void()> hook) { before_write_ = std::move(hook); }
  // Called once when the reader has gone: the run is to stop.
  void when_reader_gone(std::function<void()> hook) { when_reader_gone_ = std::move(hook); }

  // kCancelled when the reader has gone, kWriteFailed otherwise; the first error comes back on every later call.
  Status write(std::string_view text) override;
  Status flush();

  [[nodiscard]] bool reader_gone() const { return reader_gone_; }
  [[nodiscard]] bool tty() const { return tty_; }

 private:
  Status note_error(int errno_value);

  int fd_;
  bool tty_, reader_gone_ = false;
  std::string buffer_;
  std::optional<Error> error_;
  std::function<void()> before_write_, when_reader_gone_;
};

class Console {
 public:
  explicit Console(int fd) : fd_(fd) {}
  // A line without its line end. Errors of stderr itself are ignored: there is nobody left to tell.
  void line(std::string_view text);
  // Draws or redraws the status line; empty erases it.
  void status(std::string_view text);

 private:
  int fd_;
  std::mutex mutex_;
  bool status_shown_ = false;
};

}  // namespace msdump::cli
