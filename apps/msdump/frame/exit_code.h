// The exit codes of msdump: they are part of the interface, scripts in CI rely on them.
#pragma once

#include "base/error.h"

namespace msdump::cli {

enum class ExitCode : int {
  kOk = 0,             // done
  kNo = 1,             // done, and the answer is "no"
  kUsage = 2,          // usage error, missing path, nothing that could be an input, a refusal
  kSomeFailed = 3,     // finished, but some or all inputs failed
  kInternal = 70,      // our own bug
  kInterrupted = 130,  // SIGINT
  kReaderGone = 141,   // of standard output, before the answer was known; as for SIGPIPE
  kTerminated = 143,   // SIGTERM
};

// A larger code is worse.
[[nodiscard]] constexpr ExitCode worse(ExitCode a, ExitCode b) {
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

// For an error that ends a command, not for a single input that failed.
[[nodiscard]] constexpr ExitCode exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
    case ErrorCode::kNotFound:
    case ErrorCode::kPermission:
    case ErrorCode::kWriteFailed:  // an output that cannot be made: nothing was done
    case ErrorCode::kNothingCompared:
    case ErrorCode::kNotADump: return ExitCode::kUsage;
    case ErrorCode::kInternal: return ExitCode::kInternal;
    case ErrorCode::kCancelled: return ExitCode::kOk;  // the frame knows why and returns 130, 143 or 0
    default: return ExitCode::kSomeFailed;
  }
}

}  // namespace msdump::cli
