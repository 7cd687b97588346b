// Every statistic.csv of the conformance data, written by MindSpore 1.6 to 2.10.0: as many rows as the file has lines
// after its headers, and the shape of each accounts for its data size.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "base/text.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"
#include "tables/statistic_csv.h"
#include "tensor/dtype.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> statistic_files(const fs::path& corpus) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    const std::string name = entry.path().filename().string();
    const bool named = name.find("statistic") != std::string::npos ||
                       entry.path().parent_path().filename().string().find("statistic_csv") != std::string::npos;
    if (entry.is_regular_file() && entry.path().extension() == ".csv" && named) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What is wrong with a row, empty if nothing is.
std::string judge(const StatisticRow& row, const StatisticHeader& header, const std::vector<std::string>& lines) {
  const std::string& line = lines.at(row.line - 1);
  // The names of these files hold neither commas nor quotes: plain splitting reads them too.
  const std::vector<std::string_view> quoted = split(line, '"');
  if (quoted.size() != 3) return "not of three parts";
  const auto front = split(quoted[0], ',');
  if (front.size() != 10 || front[1] != row.op_name || front[8] != row.dtype || front[7] != row.data_size)
    return "front";
  auto values = split(quoted[2], ',');
  values.erase(values.begin());
  if (row.trailing_comma) values.pop_back();
  if (values != row.values || values.size() != header.columns.size()) return "values";
  const auto dtype = dtype_from_name(row.dtype);
  const auto count = element_count(row.shape);
  if (!dtype || !count) return fmt::format("dtype '{}' or shape", row.dtype);
  const auto bytes = bytes_of(*dtype, *count);
  return bytes == parse_u64(row.data_size) ? "" : fmt::format("{} bytes for {} {}", row.data_size, row.dtype, *count);
}

}  // namespace

TEST_CASE("every recorded statistic.csv is read to its last row") {
  const auto corpus = corpus_or_skip("");
  if (!corpus) return;
  size_t tables = 0, others = 0, rows = 0, rows_there = 0;
  std::vector<std::string> problems;
  for (const fs::path& path : statistic_files(*corpus)) {
    const std::string content = read_bytes(path);
    std::vector<std::string> lines;
    for (const auto line : split(content, '\n')) lines.emplace_back(line);
    while (!lines.empty() && lines.back().empty()) lines.pop_back();  // also the blank line somebody's editor left
    const auto file = File::open(path.string());
    REQUIRE(file);
    auto reader = StatisticReader::open(*file);
    const bool is_table = content.starts_with("Op Type,");
    if (reader.has_value() != is_table) problems.push_back(path.string() + ": header");
    if (!reader) {
      ++others;
      continue;
    }
    ++tables;
    rows_there += lines.size() - 1;
    for (auto row = reader->next(); !row || *row != nullptr; row = reader->next()) {
      const std::string wrong = row ? judge(**row, reader->header(), lines) : row.error().message;
      if (wrong.empty()) ++rows;
      if (!wrong.empty()) problems.push_back(fmt::format("{}: {}", path.string(), wrong));
    }
  }
  std::cout << rows << " of " << rows_there << " rows of " << tables << " tables; " << others << " other files are none"
            << std::endl;
  for (const auto& problem : problems) UNSCOPED_INFO(problem);
  CHECK(problems.empty());
  CHECK(rows == rows_there);
  CHECK(tables >= 14);
}
