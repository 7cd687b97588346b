#include "compare/dumps/compare_dumps.h"

#include "io/worker_pool.h"
#include "support/catch.h"
#include "support/made_checkpoint.h"
#include "support/must.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using test::unlike_values;

// Verdict and reason of one parameter.
std::pair<Verdict, std::string> verdict(const test::MadeParameter& a, const test::MadeParameter& b) {
  const test::ScratchDir scratch;
  const test::ListedDump dump_a = test::list_dump({scratch.write("a.safetensors", test::safetensors_of({a}))});
  const test::ListedDump dump_b = test::list_dump({scratch.write("b.safetensors", test::safetensors_of({b}))});
  StatisticTables tables_a(dump_a.index), tables_b(dump_b.index);
  const DumpSide side_a{dump_a.index, tables_a}, side_b{dump_b.index, tables_b};
  WorkerPool pool(1);
  const CancelToken cancel;
  const RunContext context{pool, cancel};
  TensorDiff diff = test::must(
      diff_records(side_a, dump_a.tensors().front(), side_b, dump_b.tensors().front(), Tolerance(), context));
  CHECK(explain_parameters(side_a, dump_a.tensors().front(), side_b, dump_b.tensors().front(), Tolerance(), context,
                           diff));
  return {diff.verdict, diff.reason};
}

using Outcome = std::pair<Verdict, std::string>;

}  // namespace

TEST_CASE("appended rows are told, with what they hold and how the common ones compare") {
  const auto values = unlike_values(24, 1);
  const auto zeros = test::joined({values, std::vector<float>(8, 0)});
  CHECK(verdict({"w", {6, 4}, values}, {"w", {8, 4}, zeros}) ==
        Outcome{Verdict::kShape, "6x4 against 8x4; 2 more rows in the reference, all 0; the first 6: same"});
  auto other = zeros;
  other.back() = 1;
  CHECK(verdict({"w", {8, 4}, other}, {"w", {6, 4}, values}) ==
        Outcome{Verdict::kShape, "8x4 against 6x4; 2 more rows in the candidate; the first 6: same"});
  other = zeros;
  other[0] += 1;
  CHECK(verdict({"w", {8, 4}, other}, {"w", {6, 4}, values})
            .second.starts_with(
                "8x4 against 6x4; 2 more rows in the candidate, all 0; the first 6: differ (relative error 0."));
}

TEST_CASE("other shapes are left as they are") {
  const auto values = unlike_values(24, 1);
  CHECK(verdict({"w", {6, 4}, values}, {"w", {8, 3}, values}) == Outcome{Verdict::kShape, "6x4 against 8x3"});
  CHECK(verdict({"w", {6, 4}, values}, {"w", {3, 4}, unlike_values(12, 2)}) ==
        Outcome{Verdict::kShape, "6x4 against 3x4"});
  CHECK(verdict({"w", {6, 4}, values}, {"w", {24}, values}) == Outcome{Verdict::kShape, "6x4 against 24"});
}

TEST_CASE("a square matrix that is transposed differs, and the reason says so") {
  const auto values = unlike_values(64, 1);
  CHECK(verdict({"w", {8, 8}, test::transposed(values, 8, 8)}, {"w", {8, 8}, values}) ==
        Outcome{Verdict::kDiffer, "the values are those of the reference transposed"});
  CHECK(verdict({"w", {8, 8}, unlike_values(64, 2)}, {"w", {8, 8}, values}) == Outcome{Verdict::kDiffer, ""});
}

}  // namespace msdump
