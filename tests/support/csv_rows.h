// Small CSV files of the conformance data, whole: rows of fields, quotes taken off, without the row of titles.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace msdump::test {

[[nodiscard]] std::vector<std::vector<std::string>> csv_rows(const std::filesystem::path& path);

}  // namespace msdump::test
