// Where the tests find their data.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace msdump::test {

[[nodiscard]] std::filesystem::path testdata_dir();

// A folder of the conformance data: under $MSDUMP_CORPUS, else under ../shared/corpus beside the checkout. Nothing when
// there is none: then the line that makes ctest count the test as skipped has been printed, and the test just returns.
// A $MSDUMP_CORPUS that is set and does not hold the folder fails the test: somebody meant it to be there.
[[nodiscard]] std::optional<std::filesystem::path> corpus_or_skip(std::string_view folder);

}  // namespace msdump::test
