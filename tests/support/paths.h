// Where the tests find their data.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace msdump::test {

[[nodiscard]] std::filesystem::path testdata_dir();

// A folder of the conformance data: below $MSDUMP_CORPUS if that is set, else what CMake unpacked from testdata/recorded/,
// else below ../shared/corpus beside the checkout, which has data that the repository may not hold. Without the folder
// the function prints the line that makes ctest count the test as skipped and returns nothing. If $MSDUMP_CORPUS is set
// and lacks the folder, the test fails.
[[nodiscard]] std::optional<std::filesystem::path> corpus_or_skip(std::string_view folder);

}  // namespace msdump::test
