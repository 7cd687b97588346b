// The exit codes of msdump: they are part of the interface, scripts in CI rely on them.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump::cli {

enum class ExitCode : int {
  kOk = 0,             // done
  kNo = 1,             // done, and the answer is "no"
  kUsage = 2,          // usage error, missing path, nothing that could be an input, a refusal
  kSomeFailed = 3,     // finished, but some or all inputs failed
  kInternal = 70,      // our own bug
  kSkip = 125,         // history --bisect: nothing was judged; git bisect run skips the commit
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

// UsageError: the command line is invalid (exit code 2). It is our only exception, because it has to cross CLI11.

class UsageError : public std::exception {
 public:
  explicit UsageError(std::string message, std::string hint = {})
      : message_(std::move(message)), hint_(std::move(hint)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }

 private:
  std::string message_, hint_;
};

// "unknown WHAT 'WORD'", with "; did you mean 'X'?" when a candidate is near.
[[nodiscard]] std::string unknown_word(std::string_view what, std::string_view word,
                                       std::span<const std::string> candidates);

// The word, then its parts: accuracy-compare, accuracy, compare.
[[nodiscard]] std::vector<std::string> word_and_parts(const std::string& word);

// True for forms of one word: comparison and compare, difference and differ.
[[nodiscard]] bool have_same_stem(std::string_view a, std::string_view b);

// "npy, bin or msnpy"
[[nodiscard]] std::string join_words(std::span<const std::string> words, std::string_view last = "or");

}  // namespace msdump::cli
