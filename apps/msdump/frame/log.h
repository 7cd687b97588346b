// Diagnostics of -v and -vv: what the program does and when, on stderr. Not for anything a user must know (messages.h).
#pragma once

#include <string_view>

#include "frame/terminal.h"

namespace msdump::cli {

// While it lives, diagnostics up to `verbosity` go to `console`; otherwise nowhere.
class Log {
 public:
  Log(Console& console, int verbosity);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();
};

void log_step(std::string_view text);    // -v: a phase of the run
void log_detail(std::string_view text);  // -vv: one file

}  // namespace msdump::cli
