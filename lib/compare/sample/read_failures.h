// ReadFailures: the files that could not be read while tensors were matched by their values. A file may be readable again
// when its pair is compared, so nothing else would report the match that is missing. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"

namespace msdump {

class ReadFailures {
 public:
  // Ignores other errors, such as an interruption, or elements that can be read and have no order.
  void add(const Error& error) {
    const bool unread = error.code == ErrorCode::kReadFailed || error.code == ErrorCode::kChangedWhileReading ||
                        error.code == ErrorCode::kNotFound || error.code == ErrorCode::kPermission ||
                        error.code == ErrorCode::kTruncated;
    if (!unread) return;
    const std::scoped_lock lock(lock_);
    by_path_.try_emplace(error.path, error);
  }
  [[nodiscard]] bool has(const std::string& path) const {
    const std::scoped_lock lock(lock_);
    return by_path_.contains(path);
  }
  // The error of each file, in the order of the paths.
  [[nodiscard]] std::vector<Error> all() const {
    const std::scoped_lock lock(lock_);
    std::vector<Error> errors;
    for (const auto& [path, error] : by_path_) errors.push_back(error);
    return errors;
  }

 private:
  mutable std::mutex lock_;
  std::map<std::string, Error> by_path_;
};

}  // namespace msdump
