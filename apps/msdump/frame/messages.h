// Messages: everything msdump says on stderr, in one shape:
//
//   msdump: error: PATH: output:0: at byte 128: needs 576 bytes, 100 present
//     hint: ...
//
// Names that come from files are escaped. Errors are always printed, because every failed input is named, but a hint
// only once per cause. After kShownPerCause warnings or notes of a cause the others are counted, unless -v is given.
// finish() prints their number: "and 41 more like this". Two messages have the same cause if they differ only in
// numbers, in quoted names and in the file they are about. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "frame/terminal.h"

namespace msdump::cli {

struct MessageOptions {
  bool quiet = false;  // errors only
  int verbosity = 0;   // number of -v
  bool color = false;
  bool keep_errors = false;
};

class Messages {
 public:
  static constexpr size_t kShownPerCause = 3;

  explicit Messages(Console& console) : console_(console) {}
  void configure(const MessageOptions& options) { options_ = options; }

  void error(const Error& error);
  void error(ErrorCode code, std::string_view text, std::string_view hint = {});
  void warning(const Error& error);
  void warning(std::string_view text, std::string_view hint = {});
  // The selection matches nothing: a warning that --json has among the failures.
  void nothing_selected(std::string_view text, std::string_view hint);
  void note(std::string_view text);  // something the user should know but need not act on

  // Prints what was folded. Called by the frame at the end, and by `summary`.
  void finish();
  // The arguments of error(), and what nothing_selected() said, under keep_errors.
  [[nodiscard]] const std::vector<Error>& errors() const { return errors_; }
  // The line at the end of a command, after what was folded; silent with -q.
  void summary(std::string_view text);

 private:
  struct Kind;
  struct Cause {
    size_t seen = 0;
    std::string example;
  };
  void print(const Kind& kind, const std::string& place, std::string_view text, std::string_view hint);
  [[nodiscard]] std::string head(const Kind& kind) const;
  void keep(const Error& error);

  Console& console_;
  MessageOptions options_;
  std::mutex mutex_;
  std::map<std::string, Cause> causes_;
  std::vector<Error> errors_;
  std::vector<std::string> folded_;  // keys of causes_ with more messages than were shown, in order of appearance
};

// Diagnostics of -v and -vv on stderr, with the time: what was opened and decided. Results and exit codes never depend
// on them; what a user must know is a message (messages.h).

// During its lifetime, diagnostics up to `verbosity` go to `console`; otherwise nowhere.
class Log {
 public:
  Log(Console& console, int verbosity);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();
};

void log_step(std::string_view text);    // -v: a phase of the run, an IR that is read
void log_detail(std::string_view text);  // -vv: a file or tensor that is finished

}  // namespace msdump::cli
