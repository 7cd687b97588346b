// SIGINT and SIGTERM: the first one asks the run to stop through the CancelToken, which leaves no partial file. The
// second one ends the process at once.
#pragma once

#include <optional>

#include "frame/usage.h"
#include "io/run_context.h"

namespace msdump::cli {

// The process's token; what a signal handler can reach has to be global.
[[nodiscard]] CancelToken& process_cancel_token();

// A signal that the parent ignores (nohup, a background job of a script) stays ignored.
void install_signal_handlers();

// 130 or 143 once a signal has come.
[[nodiscard]] std::optional<ExitCode> signal_exit_code();

}  // namespace msdump::cli
