// Failures of what tests and benchmarks share, as exceptions: they fail a test with their message. REQUIRE and FAIL need
// a running test, and one thread.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"

namespace msdump::test {

[[noreturn]] inline void fail(const std::string& message) { throw std::runtime_error(message); }

// The value.
template <class T>
[[nodiscard]] T must(Result<T>&& result) {
  if (!result) fail(result.error().path + ": " + result.error().message);
  return std::move(*result);
}

}  // namespace msdump::test
