// Ranks of one run, side by side.
#include "check/tree/completeness.h"

#include <functional>

#include "made_ranks.h"
#include "small_dump.h"

namespace msdump::check {
namespace {

void write_op(const test::ScratchDir& scratch, const std::string& type, int op, int64_t rank, int64_t step = 0) {
  const std::string name = fmt::format("Default/{}-op{}", type, op);
  scratch.write(tensor_path(name, op, "output.0", step, rank), floats({1, 2}));
}

// Four operators in each step of each rank, but for what is left out.
void write_ranks(const test::ScratchDir& scratch, int64_t ranks, const std::function<bool(int64_t, int)>& has) {
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (const int64_t step : {0, 1}) {
      for (int op = 0; op < 4; ++op) {
        if (has(rank, op)) write_op(scratch, "Mul", op, rank, step);
      }
    }
  }
}

}  // namespace

TEST_CASE("operators that all other ranks have in the same steps are missing, reported once for a rank") {
  const test::ScratchDir scratch;
  write_ranks(scratch, 3, [](int64_t rank, int op) { return rank != 1 || op < 2; });
  const Finding finding = Checked(scratch.path()).only("incomplete_step");
  CHECK(finding.rank == 1);
  CHECK(finding.step == 0);
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message ==
        "2 operators that all other ranks have are not here: Default_Mul-op2, Default_Mul-op3, in 2 steps from 0 to 1");
}

TEST_CASE("of two ranks the one with less is reported") {
  const test::ScratchDir scratch;
  write_ranks(scratch, 2, [](int64_t rank, int op) { return rank == 0 || op != 1; });
  CHECK(Checked(scratch.path()).only("incomplete_step").rank == 1);
}

TEST_CASE("what a step lacks beside the other steps of its rank is not reported again beside the other ranks") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1, 2}) {
    for (const int64_t step : {0, 1, 2}) {
      for (int op = 0; op < 4; ++op) {
        if (rank != 1 || step != 1 || op != 2) write_op(scratch, "Mul", op, rank, step);
      }
    }
  }
  const Finding finding = Checked(scratch.path()).only("incomplete_step");
  CHECK(finding.rank == 1);
  CHECK(finding.step == 1);
  CHECK(finding.message == "1 operator that other steps have is not here: Default_Mul-op2");
}

TEST_CASE("ranks of a pipeline have operators of their own and lack nothing") {
  const test::ScratchDir scratch;
  write_ranks(scratch, 2, [](int64_t rank, int op) { return (rank == 0) == (op < 2); });
  CHECK(Checked(scratch.path()).of("incomplete_step").empty());
}

TEST_CASE("a rank that alone sends or receives lacks nothing") {
  const test::ScratchDir scratch;
  write_ranks(scratch, 3, [](int64_t, int) { return true; });
  for (const int64_t rank : {0, 2}) {
    for (const int64_t step : {0, 1}) write_op(scratch, "AllReduce", 9, rank, step);
  }
  CHECK(Checked(scratch.path()).of("incomplete_step").empty());
}

TEST_CASE("a hole in the numbers of the ranks is reported, many are a note as for ranks that were chosen") {
  const auto missing = [](const std::vector<int64_t>& ranks) {
    const test::ScratchDir scratch;
    for (const int64_t rank : ranks) write_op(scratch, "Mul", 1, rank);
    return Checked(scratch.path(), only("rank_missing")).findings();
  };
  const auto hole = missing({0, 1, 2, 3, 5});
  REQUIRE(hole.size() == 1);
  CHECK(hole.front().ranks == std::vector<int64_t>{4});
  CHECK(hole.front().group == std::vector<int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(hole.front().severity == Severity::kWarning);
  CHECK(hole.front().message == "rank 4 is not in the dump, which has 5 ranks");
  REQUIRE(missing({0, 3}).size() == 1);
  CHECK(missing({0, 3}).front().severity == Severity::kNote);
  REQUIRE(missing({0, 1, 3}).size() == 1);
  CHECK(missing({0, 1, 3}).front().severity == Severity::kWarning);
  CHECK(missing({0, 2}).front().severity == Severity::kNote);
  CHECK(missing({0, 1, 7}).front().severity == Severity::kNote);
  CHECK(missing({0, 1, 2, 3}).empty());
  CHECK(missing({5}).empty());
  CHECK(missing({0, 1'000'000}).empty());
}

TEST_CASE("ranks that only the groups of collectives name are missing") {
  MadeRun run(3);
  for (size_t rank = 0; rank < 3; ++rank)
    run.at(rank).call("Distributed.all_reduce.0.forward", {seeded(rank)}, {seeded(9)},
                      R"("group":)" + group_json({0, 1, 2, 3}));
  const Finding finding = run.check(only("rank_missing")).only("rank_missing");
  CHECK(finding.ranks == std::vector<int64_t>{3});
  CHECK(finding.message == "rank 3 is not in the dump, which has 3 ranks; collectives name them");
}

}  // namespace msdump::check
