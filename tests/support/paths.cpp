#include "support/paths.h"

#include <cstdlib>
#include <iostream>

#include "support/catch.h"

namespace msdump::test {

namespace fs = std::filesystem;

fs::path testdata_dir() { return fs::path(MSDUMP_SOURCE_DIR) / "testdata"; }

std::optional<fs::path> corpus_or_skip(std::string_view folder) {
  const char* given = std::getenv("MSDUMP_CORPUS");
  const bool is_given = given != nullptr && *given != '\0';
  const fs::path beside = fs::path(MSDUMP_SOURCE_DIR).parent_path() / "shared" / "corpus";
  const fs::path recorded = fs::path(MSDUMP_RECORDED_DIR) / folder;
  if (!is_given && fs::is_directory(recorded)) return recorded;
  const fs::path path = (is_given ? fs::path(given) : beside) / folder;
  if (fs::is_directory(path)) return path;
  if (is_given) FAIL("MSDUMP_CORPUS has no folder " << path);
  // The wording is SKIP_REGULAR_EXPRESSION in tests/CMakeLists.txt.
  std::cout << "skipped: no conformance data at " << path << " (set MSDUMP_CORPUS)" << std::endl;
  return std::nullopt;
}

}  // namespace msdump::test
