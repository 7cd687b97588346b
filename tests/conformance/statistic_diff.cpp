// Records of real dumps compared whatever they hold: the trees of msprobe (statistics, checksums, tensors, with planted
// faults and without), and rows of statistic.csv that released writers made against the tensors they were made of.
#include <array>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/statistics/statistic_diff.h"
#include "io/json.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Row {
  std::string name;
  std::string op;
  std::optional<int64_t> rank;
  TensorDiff diff;
};

struct Comparison {
  std::vector<Row> rows;  // in the order of b
  size_t unmatched = 0;
  std::map<Verdict, size_t> verdicts;

  [[nodiscard]] size_t count(Verdict verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second;
  }
  [[nodiscard]] size_t differences() const {
    size_t sum = 0;
    for (const auto& [verdict, count] : verdicts) sum += is_difference(verdict) ? count : 0;
    return sum;
  }
  // The most upstream one, of one rank; null when all is well.
  [[nodiscard]] const Row* first_difference(std::optional<int64_t> rank = {}) const {
    for (const Row& row : rows) {
      if (is_difference(row.diff.verdict) && (!rank || row.rank == rank)) return &row;
    }
    return nullptr;
  }
};

std::string name_of_record(const DumpIndex& index, const TensorRecord& record) {
  const Identity identity = identity_of(index, record);
  const std::string place = fmt::format("rank{} graph{} step{}", identity.rank.value_or(0), identity.graph.value_or(0),
                                        identity.step.value_or(0));
  return fmt::format("{} {} {} {} {}{}", place, record.name.op_type, record.name.op_name, name_of(record.name.io),
                     record.name.slot, record.occurrence > 0 ? fmt::format(" run {}", record.occurrence) : "");
}

Comparison compare_lists(const DumpIndex& index_a, const std::vector<TensorRecord>& a, const DumpIndex& index_b,
                         const std::vector<TensorRecord>& b) {
  std::map<std::string, const TensorRecord*> by_name;
  for (const TensorRecord& record : a) by_name.emplace(name_of_record(index_a, record), &record);
  StatisticTables tables_a(index_a), tables_b(index_b);
  WorkerPool pool(2);
  const CancelToken never;
  Comparison result;
  for (const TensorRecord& record : b) {
    const std::string name = name_of_record(index_b, record);
    const auto partner = by_name.find(name);
    if (partner == by_name.end()) {
      ++result.unmatched;
      continue;
    }
    auto diff = diff_records({index_a, tables_a}, *partner->second, {index_b, tables_b}, record, {}, {pool, never});
    INFO(name);
    REQUIRE(diff);
    ++result.verdicts[diff->verdict];
    result.rows.push_back(
        {name, std::string(record.name.op_name), identity_of(index_b, record).rank, std::move(*diff)});
  }
  return result;
}

Comparison compare_trees(const fs::path& a, const fs::path& b) {
  const ListedDump left = list_dump({a}), right = list_dump({b});
  return compare_lists(left.index, left.tensors(), right.index, right.tensors());
}

void print(std::string_view what, const Comparison& comparison) {
  std::string line = fmt::format("{}: {} pairs", what, comparison.rows.size());
  for (const auto& [verdict, count] : comparison.verdicts) line += fmt::format(", {} {}", count, name_of(verdict));
  std::cout << line << std::endl;
}

// All that differs, for whoever has to find out why.
void check_no_difference(std::string_view what, const Comparison& comparison) {
  print(what, comparison);
  for (const Row& row : comparison.rows) {
    if (!is_difference(row.diff.verdict)) continue;
    UNSCOPED_INFO(fmt::format("{}: {}: {}, {}", what, row.name, name_of(row.diff.verdict), *row.diff.reason));
  }
  CHECK(comparison.differences() == 0);
}

struct Pair {
  const char *a, *b;
  size_t pairs;           // at least
  double same_share = 0;  // of the pairs, at least
};

// Statistics, statistics with checksums, tensors and runs of the same once more.
constexpr std::array kOfOneRun = {Pair{"pt-mlp-stats", "pt-mlp-tensor", 101},
                                  Pair{"ms-mlp-stats", "ms-mlp-tensor", 102},
                                  Pair{"pt-mlp-tensor", "pt-mlp-stats", 101},
                                  Pair{"ms-mlp-tensor", "ms-mlp-stats", 102},
                                  Pair{"pt-block-stats", "pt-block-tensor", 246},
                                  Pair{"ms-block-stats", "ms-block-tensor", 370},
                                  Pair{"pt-cnn-stats", "pt-cnn-tensor", 91},
                                  Pair{"ms-cnn-stats", "ms-cnn-tensor", 92},
                                  Pair{"pt-zoo-stats", "pt-zoo-tensor", 114},
                                  Pair{"ms-zoo-stats", "ms-zoo-tensor", 147},
                                  Pair{"pt-zoo-high", "pt-zoo-tensor", 114},
                                  Pair{"ms-zoo-high", "ms-zoo-tensor", 147},
                                  Pair{"pt-zoo-stats", "pt-zoo-md5", 114},
                                  Pair{"pt-zoo-md5", "pt-zoo-tensor", 114, 0.98},
                                  Pair{"ms-zoo-md5", "ms-zoo-tensor", 147, 0.98},
                                  Pair{"pt-block-md5", "pt-block-tensor", 246, 0.95},
                                  Pair{"pt-block-md5-again", "pt-block-md5", 246, 0.95},
                                  Pair{"ms-block-md5", "ms-block-tensor", 370, 1},
                                  Pair{"ms-block-tensor-again", "ms-block-tensor", 370, 1},
                                  Pair{"pt-mlp-xor", "pt-mlp-tensor-L1", 70},
                                  Pair{"pt-mlp-xor", "pt-mlp-xor", 70},
                                  Pair{"pt-mlp-high", "pt-mlp-tensor-L1", 70},
                                  Pair{"ms-mlp-high", "ms-mlp-tensor-L1", 71},
                                  Pair{"pt-mlp-md5-tensor-L1", "pt-mlp-stats-L1", 70},
                                  Pair{"pt-mlp-debug-stats", "pt-mlp-debug-tensor", 10},
                                  Pair{"ms-mlp-debug-stats", "ms-mlp-debug-tensor", 10},
                                  Pair{"ms-mlp-debug-md5", "ms-mlp-debug-tensor", 5, 1}};

}  // namespace

TEST_CASE("msprobe's dumps of one run agree, whatever each of them holds") {
  const auto trees = corpus_or_skip("msprobe/trees");
  if (!trees) return;
  for (const Pair& pair : kOfOneRun) {
    const Comparison comparison = compare_trees(*trees / pair.a, *trees / pair.b);
    check_no_difference(fmt::format("{} against {}", pair.a, pair.b), comparison);
    CHECK(comparison.rows.size() >= pair.pairs);
    CHECK(static_cast<double>(comparison.count(Verdict::kSame)) >=
          pair.same_share * static_cast<double>(comparison.rows.size()));
    // Tensors that are NaN throughout, of which statistics say no more.
    CHECK(comparison.count(Verdict::kSkipped) <= 4);
  }
}

TEST_CASE("statistics of weights with a noise of 1e-4 are close but for a gradient or two that cancel out") {
  const auto trees = corpus_or_skip("msprobe/trees");
  if (!trees) return;
  for (const Pair& pair :
       {Pair{"ms-block-stats-noise", "ms-block-stats", 370}, Pair{"pt-block-stats-noise", "pt-block-stats", 246},
        Pair{"pt-block-tensor-noise", "pt-block-stats", 246}}) {
    const Comparison comparison = compare_trees(*trees / pair.a, *trees / pair.b);
    print(fmt::format("{} against {}", pair.a, pair.b), comparison);
    CHECK(comparison.rows.size() >= pair.pairs);
    CHECK(comparison.differences() <= 5);
  }
}

TEST_CASE("the first statistic that differs is one of the operator with the planted fault") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  const std::string text = read_bytes(*corpus / "planted.json");
  const auto planted = parse_json(text);
  REQUIRE(planted);
  size_t found = 0;
  for (const JsonValue& fault : planted->items) {
    const std::string &target = fault.find("target")->text, &golden = fault.find("golden")->text;
    const bool by_statistics = golden.find("-stats") != std::string::npos || golden.find("-md5") != std::string::npos;
    // Behind an operator more or less other operators are paired.
    const bool shifted = target.find("-missing") != std::string::npos || target == "trees/ms-mlp-stats-shape";
    if (!by_statistics || shifted) continue;
    const Comparison comparison = compare_trees(*corpus / target, *corpus / golden);
    print(target, comparison);
    const JsonValue* first = fault.find("first_different_op");
    const Row* row = comparison.first_difference(fault.find("rank")->as_int());
    INFO(target);
    REQUIRE(row != nullptr);
    CHECK(row->op == (first != nullptr ? *first : *fault.find("guilty_op")).text);
    ++found;
  }
  CHECK(found >= 10);
}

TEST_CASE("MindSpore on a CPU loses NaN in max and min, and the mean tells of it") {
  const auto trees = corpus_or_skip("msprobe/trees");
  if (!trees) return;
  const Comparison comparison = compare_trees(*trees / "ms-block-stats-nan", *trees / "ms-block-stats");
  REQUIRE(comparison.first_difference() != nullptr);
  CHECK(comparison.first_difference()->diff.verdict == Verdict::kNan);
  CHECK(comparison.first_difference()->diff.reason == "mean nan against 0.166667");
  // The same fault in tensors against its statistics: NaN on both sides is no difference.
  check_no_difference("ms-block-tensor-nan against its statistics",
                      compare_trees(*trees / "ms-block-tensor-nan", *trees / "ms-block-stats-nan"));
}

namespace {

// A statistic.csv in each folder, as a version writes it.
void write_statistics(const ListedDump& dump, const StatisticsRequest& request, const ScratchDir& scratch) {
  const auto results = compute_statistics(dump, request);
  const stats::TextStyle style{request.dialect, request.columns, request.exact};
  for (const stats::StatisticDirectory& directory : stats::statistic_directories(dump.index, dump.tensors())) {
    std::string text = stats::header_line(style);
    for (const size_t i : directory.tensors) {
      if (results[i]) text += stats::row_line(style, dump.index, dump.tensors()[i], *results[i]);
    }
    scratch.write((fs::path(directory.relative) / "statistic.csv").string(), text);
  }
}

// The inputs of real/statistics as a tree of arrays.
void write_inputs(const fs::path& folder, const ScratchDir& scratch) {
  static const std::map<std::string, std::string> kDescr = {
      {"float16", "<f2"}, {"float32", "<f4"}, {"float64", "<f8"}, {"int8", "|i1"},   {"int16", "<i2"},
      {"int32", "<i4"},   {"int64", "<i8"},   {"uint8", "|u1"},   {"uint16", "<u2"}, {"uint32", "<u4"},
      {"uint64", "<u8"},  {"bool", "|b1"},    {"bfloat16", "<E2"}};
  const std::string table = read_bytes(folder / "inputs.csv");
  for (std::string_view line : split(table, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto cells = split(line, ',');
    if (cells.size() < 5 || kDescr.count(std::string(cells[1])) == 0) continue;
    Shape shape;
    if (cells[3] != "scalar") {
      for (const auto dim : split(cells[3], 'x')) shape.push_back(parse_i64(dim).value());
    }
    scratch.write(
        fmt::format("{0}.{0}_{1}.0.0.17{2:0>14}.output.0.DefaultFormat.{0}.npy", cells[1], cells[2], cells[0]),
        npy_of(kDescr.at(std::string(cells[1])), shape, read_bytes(folder / cells[4])));
  }
}

}  // namespace

TEST_CASE("rows of statistic.csv agree with the tensors that released writers made them of") {
  const auto folder = corpus_or_skip("real/statistics");
  if (!folder) return;
  const ScratchDir arrays;
  write_inputs(*folder, arrays);
  const ListedDump tensors = list_dump({arrays.path()});
  for (const char* table : {"2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.10.0", "2.7.0-default", "2.10.0-default",
                            "2.10.0-hash", "2.7.0-twice"}) {
    const ScratchDir scratch;
    scratch.write("statistic.csv", read_bytes(*folder / table / "statistic.csv"));
    const ListedDump rows = list_dump({scratch.path()});
    const Comparison one = compare_lists(tensors.index, tensors.tensors(), rows.index, rows.tensors());
    check_no_difference(fmt::format("tensors against {}", table), one);
    CHECK(one.rows.size() >= 100);
    const Comparison other = compare_lists(rows.index, rows.tensors(), tensors.index, tensors.tensors());
    check_no_difference(fmt::format("{} against tensors", table), other);
  }
}

TEST_CASE("statistics of all versions agree with the tensors of real dumps, and with each other") {
  const auto real = corpus_or_skip("real");
  if (!real) return;
  for (const char* tree : {"2.10.0-nested-both", "2.10.0-loop-both", "2.10.0-dtypes-all", "2.7.0-alexnet-all"}) {
    const ListedDump tensors = list_dump({*real / tree});
    std::vector<std::unique_ptr<ScratchDir>> written;
    for (const char* version : {"2.0.0", "2.2.14", "2.3.1", "2.4.0", "2.6.0", "2.10.0"}) {
      StatisticsRequest request;
      request.dialect = stats::dialect_from_text(version).value();
      if (request.dialect->fixed_columns) request.columns = stats::default_columns(*request.dialect);
      request.columns = stats::effective_columns(*request.dialect, request.columns);
      written.push_back(std::make_unique<ScratchDir>());
      write_statistics(tensors, request, *written.back());
      const ListedDump rows = list_dump({written.back()->path()});
      const std::string what = fmt::format("{} against statistics of {}", tree, version);
      const Comparison comparison = compare_lists(tensors.index, tensors.tensors(), rows.index, rows.tensors());
      check_no_difference(what, comparison);
      CHECK(comparison.rows.size() >= 20);
      CHECK(comparison.count(Verdict::kSkipped) == 0);
      check_no_difference(what + ", and of the first", compare_trees(written.front()->path(), written.back()->path()));
    }
  }
}
