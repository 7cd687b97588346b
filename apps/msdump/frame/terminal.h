// The terminal and the two output streams.
//
//   TerminalFacts   what the streams and the environment are, read once
//   Output          results to stdout, buffered. If the reader is gone (`| head`) the run stops quietly; a full disk is
//                   an error that the caller sees
//   Console         the only writer of stderr: whole lines, and a status line that is erased before anything else is
//                   printed. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/run_context.h"
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

[[nodiscard]] TerminalFacts terminal_facts(int out_fd, int err_fd);

// An explicit choice wins over the environment.
[[nodiscard]] bool use_color(When when, bool tty, const TerminalFacts& facts);
[[nodiscard]] bool use_progress(When when, bool quiet, const TerminalFacts& facts);

// Opens /dev/null for descriptors 0, 1 and 2 that the caller closed, so that no file msdump opens can become its
// stdout. A stdout filled this way rejects writes: results that cannot be printed are an error. Also ignores SIGPIPE
// and SIGXFSZ, so that a reader that has gone and a file that may not grow are errors of the write.
void claim_standard_streams();

// Raises the soft limit of open files to the hard one: each thread keeps a handful open.
void raise_open_file_limit();

class Output : public report::TextOutput {
 public:
  // A write that blocks ends when `cancel` is set.
  explicit Output(int fd, bool tty = false, const CancelToken* cancel = nullptr)
      : fd_(fd), tty_(tty), cancel_(cancel) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() override;

  // Called before bytes are written, to erase a status line on the same terminal.
  void before_write(std::function<void()> hook) { before_write_ = std::move(hook); }
  // Called once when the reader has gone, to stop the run.
  void when_reader_gone(std::function<void()> hook) { when_reader_gone_ = std::move(hook); }

  // kCancelled when the reader has gone, kWriteFailed otherwise; the first error comes back on every later call.
  Status write(std::string_view text) override;
  Status flush();

  [[nodiscard]] bool reader_gone() const { return reader_gone_; }
  [[nodiscard]] bool tty() const { return tty_; }
  [[nodiscard]] bool used() const { return used_; }  // anything was written

 private:
  Status note_error(int errno_value);

  int fd_;
  bool tty_, reader_gone_ = false, used_ = false;
  const CancelToken* cancel_;
  std::string buffer_;
  std::optional<Error> error_;
  std::function<void()> before_write_, when_reader_gone_;
};

class Console {
 public:
  explicit Console(int fd, const CancelToken* cancel = nullptr) : fd_(fd), cancel_(cancel) {}
  // A line without its line end. Errors of stderr itself are ignored.
  void line(std::string_view text);
  // Draws or redraws the status line; empty erases it.
  void status(std::string_view text);

 private:
  int fd_;
  const CancelToken* cancel_;
  std::mutex mutex_;
  bool status_shown_ = false;
};

// Lines of another tool's format (statistic.csv, result files) on a terminal, which the names in them must not control.
// A file or a pipe gets the bytes unchanged.

// Escaped, except for the ends of lines; "\r\n" becomes "\n".
[[nodiscard]] std::string lines_for_terminal(std::string_view lines);

// Words as a shell reads them back.

[[nodiscard]] std::string shell_quoted(std::string_view word);
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

}  // namespace msdump::cli
