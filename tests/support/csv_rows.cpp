#include "support/csv_rows.h"

#include "support/scratch_dir.h"

namespace msdump::test {

std::vector<std::vector<std::string>> csv_rows(const std::filesystem::path& path) {
  const std::string text = read_bytes(path);
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.emplace_back(1);
    } else if (c != '\r') {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  rows.erase(rows.begin());
  return rows;
}

}  // namespace msdump::test
