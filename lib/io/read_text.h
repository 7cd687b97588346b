// Reads a whole text file, up to a limit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/file.h"

namespace msdump {

// too_large if the file has more than `limit` bytes. `what` is its name in that message: "a mapping.csv".
Result<std::string> read_text(const File& file, uint64_t limit, std::string_view what);
Result<std::string> read_text(const std::string& path, uint64_t limit, std::string_view what);

// The same for texts of hundreds of MiB: the memory is not zeroed first.
struct LargeText {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes.get(), size}; }
};
Result<LargeText> read_large_text(const File& file, uint64_t limit, std::string_view what);

}  // namespace msdump
