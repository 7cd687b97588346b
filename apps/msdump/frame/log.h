// Diagnostics of -v and -vv on stderr, with the time: what was opened and decided. Results and exit codes never depend
// on them; what a user must know is a message (messages.h).
#pragma once

#include <string_view>

#include "frame/terminal.h"

namespace msdump::cli {

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
