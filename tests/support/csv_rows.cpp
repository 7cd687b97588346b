#include "support/csv_rows.h"

#include "support/scratch_dir.h"

namespace msdump::test {

std::vector<std::vector<std::string>> csv_rows(const std::filesystem::path& path) {
  const std::string text = read_bytes(path);
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];  // a quote inside quotes is doubled
    } else if (c == '"') {
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
