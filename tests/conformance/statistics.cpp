// Statistics against those that released versions of MindSpore computed of the same tensors: statistic.csv of 2.7.0 to
// 2.10.0 byte for byte, the offline debugger of 1.6.1 to 2.0.0 to the last bit, the golden values of MindSpore's own
// tests.
#include <array>
#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

#include "base/text.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

// Without "\r\n": Python's csv module wrote some of the tables.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto line : split(text, '\n'))
    lines.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// The shape is one cell, in quotes.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

struct Input {
  size_t row = 0;
  std::string type, tensor;
  Shape shape;
  std::string bytes;
};

std::vector<Input> read_inputs(const fs::path& folder) {
  std::vector<Input> inputs;
  for (const std::string& line : lines_of(read_bytes(folder / "inputs.csv"))) {
    if (line.starts_with("row,")) continue;
    const auto cells = cells_of(line);
    Input input{std::stoul(cells.at(0)), cells.at(1), cells.at(2), {}, read_bytes(folder / cells.at(4))};
    if (cells[3] != "scalar") {
      for (const auto dim : split(cells[3], 'x')) input.shape.push_back(std::stoll(std::string(dim)));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::string descr_of(const std::string& type) {
  static const std::map<std::string, std::string> kDescr = {
      {"float16", "<f2"}, {"float32", "<f4"}, {"float64", "<f8"}, {"int8", "|i1"},    {"int16", "<i2"},
      {"int32", "<i4"},   {"int64", "<i8"},   {"uint8", "|u1"},   {"uint16", "<u2"},  {"uint32", "<u4"},
      {"uint64", "<u8"},  {"bool", "|b1"},    {"int4", "|i1"},    {"bfloat16", "<E2"}};
  return kDescr.at(type);
}

// The low nibble first, with its sign.
std::string unpacked(const std::string& packed) {
  std::string bytes;
  for (const char byte : packed) {
    for (const int nibble : {byte & 15, byte >> 4 & 15}) bytes += static_cast<char>(nibble < 8 ? nibble : nibble - 16);
  }
  return bytes;
}

// bfloat16 is the upper half of a float32.
std::string widened(const std::string& halves) {
  std::string floats;
  for (size_t i = 0; i < halves.size(); i += 2) floats += std::string(2, '\0') + halves.substr(i, 2);
  return floats;
}

// What the CPU writes, or Ascend, which widens bfloat16.
enum class Writer { kCpu, kAscend };

std::string array_file(const Input& input, Writer writer) {
  if (input.type == "int4") return npy_of("|i1", input.shape, unpacked(input.bytes));
  if (input.type == "bfloat16" && writer == Writer::kAscend) return npy_of("<f4", input.shape, widened(input.bytes));
  return npy_of(descr_of(input.type), input.shape, input.bytes);
}

void write_tree(const ScratchDir& scratch, const std::vector<Input>& inputs, Writer writer) {
  for (const Input& input : inputs) {
    scratch.write(fmt::format("{0}.{0}_{1}.0.0.{2}.output.0.DefaultFormat.{0}.npy", input.type, input.tensor,
                              1700000000000000 + input.row),
                  array_file(input, writer));
  }
}

struct Table {
  const char* folder;
  const char* version;
  std::vector<const char*> category;  // as in data_dump.json
};

// README.md of the data has the categories.
std::vector<Table> statistic_tables() {
  const std::vector<const char*> all = {"max",
                                        "min",
                                        "avg",
                                        "count",
                                        "negative zero count",
                                        "positive zero count",
                                        "nan count",
                                        "negative inf count",
                                        "positive inf count",
                                        "zero count",
                                        "l2norm",
                                        "md5"};
  const std::vector<const char*> usual = {"max", "min", "l2norm"};
  const std::vector<const char*> hash = {"hash", "max", "hash:md5", "max", "hash:sha1"};
  return {{"2.7.0", "2.7.0", all},
          {"2.7.1", "2.7.1", all},
          {"2.8.0", "2.8.0", all},
          {"2.9.0", "2.9.0", all},
          {"2.10.0", "2.10.0", all},
          {"2.7.0-default", "2.7.0", usual},
          {"2.7.1-default", "2.7.1", usual},
          {"2.8.0-default", "2.8.0", usual},
          {"2.9.0-default", "2.9.0", usual},
          {"2.10.0-default", "2.10.0", usual},
          {"2.7.1-hash", "2.7.1", hash},
          {"2.10.0-hash", "2.10.0", hash},
          {"2.7.0-twice", "2.7.0", {"l2norm", "max", "l2norm"}},
          {"2.7.0-none", "2.7.0", {}}};
}

const stats::Dialect* dialect(const std::string& version) {
  const auto found = stats::dialect_from_text(version);
  REQUIRE(found);
  return *found;
}

StatisticsRequest request_for(const Table& table) {
  StatisticsRequest request;
  request.dialect = dialect(table.version);
  request.columns.clear();
  for (const char* word : table.category) request.columns.push_back(statistic_column_from_category(word).value());
  request.columns = stats::effective_columns(*request.dialect, request.columns);
  return request;
}

struct TableComparison {
  size_t cells = 0;
  std::vector<std::string> differences;

  void cell(const std::string& where, const std::string& expected, const std::string& got) {
    ++cells;
    if (expected != got) differences.push_back(fmt::format("{}: '{}' instead of '{}'", where, got, expected));
  }
};

void compare_csv(const std::string& name, const std::string& expected, const std::string& got,
                 TableComparison& comparison) {
  const auto lines = lines_of(expected), got_lines = lines_of(got);
  if (lines.size() != got_lines.size()) {
    comparison.differences.push_back(fmt::format("{}: {} lines, not {}", name, got_lines.size(), lines.size()));
    return;
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto cells = cells_of(lines[i]), got_cells = cells_of(got_lines[i]);
    for (size_t k = 0; k < std::max(cells.size(), got_cells.size()); ++k) {
      const auto cell = [k](const auto& all) { return k < all.size() ? all[k] : "no cell"; };
      comparison.cell(fmt::format("{} line {} cell {}", name, i + 1, k + 1), cell(cells), cell(got_cells));
    }
  }
  // Line ends and the like.
  if (expected != got && comparison.differences.empty()) comparison.differences.push_back(name + ": other bytes");
}

void report_table(const char* what, size_t tables, const TableComparison& comparison) {
  std::cout << comparison.cells << " cells of " << tables << " " << what << " compared, "
            << comparison.differences.size() << " differ" << std::endl;
  for (size_t i = 0; i < std::min<size_t>(comparison.differences.size(), 40); ++i)
    UNSCOPED_INFO(comparison.differences[i]);
  CHECK(comparison.differences.empty());
}

// Two doubles are the same when their bits are: -0 is not 0.
bool same_double(double a, double b) {
  return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

void compare_double(const std::string& where, const std::string& expected, double got, TableComparison& comparison) {
  ++comparison.cells;
  const double value = std::strtod(expected.c_str(), nullptr);
  if (!same_double(value, got))
    comparison.differences.push_back(fmt::format("{}: {:a} instead of {}", where, got, expected));
}

}  // namespace

TEST_CASE("statistic.csv is what MindSpore 2.7.0 to 2.10.0 wrote, byte for byte") {
  const auto corpus = corpus_or_skip("real/statistics");
  if (!corpus) return;
  const std::vector<Input> inputs = read_inputs(*corpus);
  REQUIRE(inputs.size() == 197);
  const auto writer = GENERATE(Writer::kCpu, Writer::kAscend);
  const ScratchDir scratch;
  write_tree(scratch, inputs, writer);
  const ListedDump dump = list_dump({scratch.path()}, Headers::kWhereNeeded);
  TableComparison comparison;
  const auto tables = statistic_tables();
  for (const Table& table : tables) {
    const std::string expected = read_bytes(*corpus / table.folder / "statistic.csv");
    compare_csv(table.folder, expected, statistic_csv(dump, request_for(table)), comparison);
  }
  report_table("statistic.csv", tables.size(), comparison);
  CHECK(comparison.cells == 47110);
}

TEST_CASE("a tampered statistic.csv of MindSpore is found to differ") {
  const auto corpus = corpus_or_skip("real/statistics");
  if (!corpus) return;
  const std::string expected = read_bytes(*corpus / "2.10.0" / "statistic.csv");
  std::string other = expected;
  other.replace(other.find("8.14325"), 7, "8.14326");
  TableComparison comparison;
  compare_csv("2.10.0", expected, other, comparison);
  CHECK(comparison.differences.size() == 1);
}

TEST_CASE("statistics are those of the offline debugger of MindSpore 1.6.1 to 2.0.0, to the last bit") {
  const auto corpus = corpus_or_skip("real/statistics");
  if (!corpus) return;
  const std::vector<Input> inputs = read_inputs(*corpus);
  const ScratchDir scratch;
  write_tree(scratch, inputs, Writer::kCpu);
  const ListedDump dump = list_dump({scratch.path()}, Headers::kAll);
  REQUIRE(dump.tensors().size() == inputs.size());
  TableComparison comparison;
  constexpr std::array kVersions = {"1.6.1", "1.8.1", "1.10.0", "2.0.0"};
  for (const std::string version : kVersions) {
    StatisticsRequest request;
    request.dialect = dialect(version);
    const auto results = compute_statistics(dump, request);
    std::map<std::string, const TensorNumbers*> by_name;
    for (size_t i = 0; i < inputs.size(); ++i) by_name[inputs[i].type + "," + inputs[i].tensor] = &*results[i];
    for (const std::string& line : lines_of(read_bytes(*corpus / version / "tensorstat.csv"))) {
      if (line.starts_with("dtype,")) continue;
      const auto cells = cells_of(line);
      const std::string where = version + " " + cells.at(0) + "_" + cells.at(1);
      const TensorNumbers& got = *by_name.at(cells[0] + "," + cells[1]);
      comparison.cell(where + " size", cells.at(2), std::to_string(got.data_size));
      // The debugger forgets the shape of an empty tensor.
      if (got.count > 0U) comparison.cell(where + " shape", cells.at(4), join_dims(*got.shape, "x"));
      const std::array doubles = {got.value(Extremum::kMax), got.value(Extremum::kMin), got.value(Extremum::kMean)};
      for (size_t i = 0; i < doubles.size(); ++i)
        compare_double(fmt::format("{} number {}", where, i), cells.at(6 + i), doubles[i], comparison);
      const std::array counts = {got.count,        got.negative,     got.positive, got.nan,
                                 got.negative_inf, got.positive_inf, got.zero};
      for (size_t i = 0; i < counts.size(); ++i)
        comparison.cell(fmt::format("{} count {}", where, i), cells.at(9 + i), std::to_string(counts[i].value_or(0)));
    }
  }
  report_table("tensorstat.csv", kVersions.size(), comparison);
  CHECK(comparison.cells == 9012);
}

// The expectations are in layouts/real/mindspore_tests_ut_dump_golden_v2.0.0/read_tensors_base_stat_expected.json, the
// tensors in MindSpore's test of that name.
TEST_CASE("statistics are the golden values of MindSpore 2.0.0's own tests") {
  constexpr float kInf = HUGE_VALF, kNan = NAN;
  StatisticsRequest request;
  request.dialect = dialect("2.0.0");
  const auto add = statistics_of<float>("<f4", {7.5F, 8.56F, -9.78F, 10.0F, -11.0F, 0.0F}, request);
  CHECK(add.value(Extremum::kMax) == 10.0);
  CHECK(add.value(Extremum::kMin) == -11.0);
  CHECK(add.value(Extremum::kMean) == 0.8800001144409179);
  CHECK(std::array{add.count, add.negative, add.positive, add.zero} ==
        std::array<std::optional<uint64_t>, 4>{6, 2, 3, 1});
  const auto reciprocal =
      statistics_of<float>("<f4", {1, -kInf, kInf, -kInf, kInf, kInf, 1, -kInf, kInf, kInf}, request);
  CHECK(reciprocal.value(Extremum::kMax) == 1.0);
  CHECK(reciprocal.value(Extremum::kMin) == 1.0);
  CHECK(reciprocal.value(Extremum::kMean) == 1.0);
  CHECK(std::array{reciprocal.count, reciprocal.negative, reciprocal.positive, reciprocal.negative_inf,
                   reciprocal.positive_inf} == std::array<std::optional<uint64_t>, 5>{10, 0, 2, 3, 5});
  const auto mean = statistics_of<float>("<f4", {-2.1754317F, 1.9901361F, kNan, kNan, -1.8091936F}, request);
  CHECK(mean.value(Extremum::kMax) == 1.9901361465454102);
  CHECK(mean.value(Extremum::kMin) == -2.175431728363037);
  CHECK(mean.value(Extremum::kMean) == -0.6648297309875488);
  CHECK(std::array{mean.count, mean.negative, mean.positive, mean.nan} ==
        std::array<std::optional<uint64_t>, 4>{5, 2, 1, 2});
}
