// UsageError: the command line is invalid (exit code 2). It is our only exception, because it has to cross CLI11.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace msdump::cli {

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

// "npy, bin or msnpy"
[[nodiscard]] std::string join_words(std::span<const std::string> words, std::string_view last = "or");

}  // namespace msdump::cli
