// --verify over the examples of statistic.csv of every dialect, with the tensors they are about laid beside them: each
// cell must agree, and a cell that was changed must not.
#include <array>
#include <cmath>
#include <iostream>

#include <fmt/format.h>

#include "stats/dialect.h"
#include "stats/verify.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

using namespace msdump;
using namespace msdump::test;

namespace {

struct Example {
  const char* file;
  const char* dialect;  // the one that agrees, or the newest of those that do
  size_t columns;
};

constexpr std::array kExamples = {Example{"statistic.1.6-2.2.13.csv", "1.6.0 to 2.2.13", 10},
                                  Example{"statistic.2.2.14-2.3.0rc2.csv", "2.2.14 to 2.3.0rc", 11},
                                  Example{"statistic.2.3.0.default.csv", "2.3.0 to 2.3.1", 3},
                                  Example{"statistic.2.4.all-categories.csv", "2.5.0 to 2.7.0", 12},
                                  Example{"statistic.2.5-2.7.user-order.csv", "2.5.0 to 2.7.0", 4}};

// Written with the round brackets of earlier versions, although its SHA1 column came with the square ones.
constexpr Example kMixed = {"statistic.2.7-post.sha1.csv", "2.5.0 to 2.7.0", 4};

struct Tensor {
  const char* name;
  const char* io_slot_time;
  Shape shape;
  std::vector<float> values;
};

// Found from the values and the MD5 of the examples.
std::vector<Tensor> tensors() {
  return {{"Add.{}Add-op0", "1733905446819790.input.0", {2, 3}, {1, 2, 3, 4, 5, 6}},
          {"Add.{}Add-op0", "1733905446819927.input.1", {2, 3}, {7, 8, 9, 10, 11, 12}},
          {"Add.{}Add-op0", "1733905446820064.output.0", {2, 3}, {8, 10, 12, 14, 16, 18}},
          {"Log.{}Log-op1", "1733905446820201.input.0", {6}, {1, -2, 0, NAN, HUGE_VALF, 5}},
          {"Log.{}Log-op1", "1733905446820338.output.0", {2}, {-HUGE_VALF, -HUGE_VALF}},
          {"Cast.{}Cast-op1", "1733905446820475.input.0", {}, {30}}};
}

void lay_out(const ScratchDir& scratch, const std::string& csv) {
  scratch.write("statistic.csv", csv);
  const char* scope = csv.find("Default_network-Net_") != std::string::npos ? "Default_network-Net_" : "";
  for (const Tensor& tensor : tensors()) {
    const std::string name = fmt::format(fmt::runtime(tensor.name), scope);
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * 4);
    scratch.write(fmt::format("{}.0.0.{}.DefaultFormat.npy", name, tensor.io_slot_time),
                  npy_of("<f4", tensor.shape, bytes));
  }
}

struct ExampleVerdict {
  size_t cells = 0;
  std::vector<std::string> differences;
};

ExampleVerdict verify(const ListedDump& dump, const stats::StoredRows& rows, const stats::Dialect& dialect) {
  StatisticsRequest request;
  request.dialect = &dialect;
  const auto results = compute_statistics(dump, request);
  const stats::TextStyle style{&dialect, {}, false};
  ExampleVerdict verdict;
  for (const auto& [at, row] : rows) {
    REQUIRE(results[at]);
    const stats::RowComparison comparison = compare_row(row, style, *results[at]);
    verdict.cells += comparison.cells;
    for (const stats::CellDifference& one : comparison.differences) {
      verdict.differences.push_back(
          fmt::format("{}: {} '{}', not '{}'", dump.tensors()[at].name.op_name, one.column, one.computed, one.stored));
    }
  }
  return verdict;
}

}  // namespace

TEST_CASE("every example of statistic.csv agrees with its tensors") {
  const auto corpus = corpus_or_skip("layouts/examples");
  if (!corpus) return;
  size_t cells = 0;
  for (const Example& example : kExamples) {
    INFO(example.file);
    const ScratchDir scratch;
    lay_out(scratch, read_bytes(*corpus / example.file));
    const ListedDump dump = list_dump({scratch.path()});
    const auto rows = stats::read_stored_rows(dump.index, dump.tensors());
    REQUIRE(rows);
    CHECK(rows->size() == 6);
    const auto choice = stats::choose_dialect(dump.index, stats::stored_style(dump.index));
    std::string newest;
    for (const stats::Dialect* dialect : choice.candidates) {
      const ExampleVerdict verdict = verify(dump, *rows, *dialect);
      CHECK(verdict.cells == 6 * (3 + example.columns));
      if (verdict.differences.empty()) newest = dialect->name;
    }
    CHECK(newest == example.dialect);
    cells += 6 * (3 + example.columns);
  }
  std::cout << cells << " cells of " << kExamples.size() << " examples agree" << std::endl;
}

TEST_CASE("the example with round brackets and SHA1 differs in nothing but what its version would write otherwise") {
  const auto corpus = corpus_or_skip("layouts/examples");
  if (!corpus) return;
  const ScratchDir scratch;
  lay_out(scratch, read_bytes(*corpus / kMixed.file));
  const ListedDump dump = list_dump({scratch.path()});
  const auto rows = stats::read_stored_rows(dump.index, dump.tensors());
  REQUIRE(rows);
  const ExampleVerdict verdict = verify(dump, *rows, *stats::dialect_from_text("2.7.0").value());
  CHECK(verdict.cells == 6 * (3 + kMixed.columns));
  CHECK(verdict.differences.empty());
  CHECK(verify(dump, *rows, stats::newest_dialect()).differences.size() == 6);  // the shapes
}

TEST_CASE("a changed cell of an example is found, in each column") {
  const auto corpus = corpus_or_skip("layouts/examples");
  if (!corpus) return;
  const std::string csv = read_bytes(*corpus / "statistic.2.4.all-categories.csv");
  struct Change {
    std::string_view from, to, column;
  };
  for (const Change& change :
       {Change{",0,24,float32,\"(2,3)\",6", ",0,25,float32,\"(2,3)\",6", "data_size"},
        Change{"float32,\"(2,3)\",6,", "float64,\"(2,3)\",6,", "dtype"},
        Change{"\"(2,3)\",6,", "\"(3,2)\",6,", "shape"}, Change{"\"(2,3)\",6,1,", "\"(2,3)\",6.1,1,", "max"},
        Change{",6,1,3.5,", ",6,-1,3.5,", "min"}, Change{",3.5,6,", ",3.50001,6,", "avg"},
        Change{",3.5,6,", ",3.5,5,", "count"}, Change{"fa85978", "fb85978", "md5"},
        Change{"9.53939", "9.53938", "l2norm"}, Change{",nan,nan,nan,6,", ",-nan,nan,nan,6,", "max"},
        Change{",6,1,3,1,0,1,1,", ",6,1,3,1,0,1,0,", "zero_count"},
        Change{",6,1,3,1,0,1,1,", ",6,1,2,1,0,1,1,", "positive_zero_count"}}) {
    INFO(change.column << ": " << change.from);
    const ScratchDir scratch;
    std::string changed = csv;
    REQUIRE(changed.find(change.from) != std::string::npos);
    changed.replace(changed.find(change.from), change.from.size(), change.to);
    lay_out(scratch, changed);
    const ListedDump dump = list_dump({scratch.path()});
    const auto rows = stats::read_stored_rows(dump.index, dump.tensors());
    REQUIRE(rows);
    const ExampleVerdict verdict = verify(dump, *rows, *stats::dialect_from_text("2.4").value());
    REQUIRE(verdict.differences.size() == 1);
    CHECK(verdict.differences[0].find(": " + std::string(change.column) + " '") != std::string::npos);
  }
}
