// The value of a Result that a test or a benchmark cannot do without: an exception otherwise, which fails a test with the
// message. REQUIRE needs a running test, and one thread.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace msdump::test {

template <class T>
[[nodiscard]] T must(Result<T>&& result) {
  if (!result) throw std::runtime_error(result.error().path + ": " + result.error().message);
  return std::move(*result);
}

}  // namespace msdump::test
