// Files of the conformance data that may be stored compressed.
#pragma once

#include <filesystem>
#include <string>

namespace msdump::test {

// The bytes of a file, those inside it if its name ends in .gz. A failure is an exception.
[[nodiscard]] std::string read_maybe_gzipped(const std::filesystem::path& path);

}  // namespace msdump::test
