#include "compare/match/placement/sharded_side.h"

#include <fmt/format.h>

#include "support/catch.h"
#include "support/cut_runs.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using namespace test::cut_runs;

std::vector<std::string> names_of(const ShardedSide& side) {
  std::vector<std::string> names;
  for (const SequencedOp& op : side.operators()) names.push_back(op.name);
  return names;
}

TEST_CASE("runs on the same ranks with the same parts are not cut differently, all others are") {
  const RankRun one(1, whole_run), two(2, [](MadeCalls&calls, int rank) { tensor_parallel(calls, rank); });
  const RankRun again(2, [](MadeCalls& calls, int rank) { tensor_parallel(calls, rank); });
  const RankRun copies(2, whole_run), elsewhere(2, whole_run, 4);
  CHECK_FALSE(sharding_differs(two.side(), again.side()));
  CHECK_FALSE(sharding_differs(copies.side(), copies.side()));
  CHECK_FALSE(sharding_differs(one.side(), one.side()));
  CHECK(sharding_differs(two.side(), one.side()));
  CHECK(sharding_differs(one.side(), two.side()));
  CHECK(sharding_differs(two.side(), copies.side()));
  CHECK(sharding_differs(copies.side(), elsewhere.side()));
  // Without a call in common, the ranks decide.
  const auto renamed = [](MadeCalls& calls, int) { calls.ran("Functional.gelu.7.forward", {kX}, {kOut}); };
  CHECK(sharding_differs(RankRun(4, renamed).side(), two.side()));
  CHECK_FALSE(sharding_differs(RankRun(2, renamed).side(), two.side()));
  CHECK(ranks_of(two.side()) == std::set<int64_t>{0, 1});
  CHECK(ranks_of(elsewhere.side()) == std::set<int64_t>{4, 5});
  CHECK(ranks_of(one.side()).empty());
}

TEST_CASE("the calls that ranks have in common are one call, whose tensors lie on all of them") {
  const RankRun run(3, [](MadeCalls& calls, int rank) {
    calls.ran("Functional.linear.0.forward", {kX}, {test::numbers(4, static_cast<uint64_t>(rank) + 9)});
    if (rank != 1) calls.ran("Functional.relu.0.forward", {kX}, {kOut});
    for (int i = 0; i < 8; ++i) calls.ran(fmt::format("Functional.add.{}.forward", i), {kX}, {kX});
  });
  const ShardedSide side(run.side());
  REQUIRE(side.operators().size() == 10);
  CHECK(side.operators().front().tensors.size() == 2);
  CHECK_FALSE(side.operators().front().rank);
  for (const RecordId tensor : side.operators().front().tensors) {
    CHECK(side.ranks(tensor) == std::vector<int64_t>{0, 1, 2});
    REQUIRE(side.members(tensor).records.size() == 3);
    for (size_t rank = 0; rank < 3; ++rank) {
      const TensorRecord* const record = side.members(tensor).records[rank];
      REQUIRE(record != nullptr);
      CHECK(place_of(*run.side().index, *record).rank == static_cast<int64_t>(rank));
    }
    CHECK_FALSE(place_of(*run.side().index, side.tensors()[tensor]).rank);
  }
  const auto relu = std::find_if(side.operators().begin(), side.operators().end(),
                                 [](const SequencedOp& op) { return op.name == "Functional.relu.0.forward"; });
  REQUIRE(relu != side.operators().end());
  const auto& records = side.members(relu->tensors.front()).records;
  CHECK(records[0] != nullptr);
  CHECK(records[1] == nullptr);
  CHECK(records[2] != nullptr);
}

TEST_CASE("stages of a pipeline follow each other, and their backward passes the other way round") {
  const RankRun run(2, [](MadeCalls& calls, int rank) {
    const std::string layer = rank == 0 ? "first" : "second";
    for (int i = 0; i < 3; ++i) calls.ran(fmt::format("Module.{}.{}.Linear.forward.0", layer, i), {kX}, {kUp});
    for (int i = 3; i-- > 0;) calls.ran(fmt::format("Module.{}.{}.Linear.backward.0", layer, i), {kX}, {kUp});
    if (rank == 0) calls.ran("Tensor.add_.0.forward", {kX}, {kUp});  // an update
  });
  const ShardedSide side(run.side());
  const std::vector<std::string> names = names_of(side);
  REQUIRE(names.size() == 13);
  CHECK(names[12] == "Tensor.add_.0.forward");
  CHECK(names[0] == "Module.first.0.Linear.forward.0");
  CHECK(names[3] == "Module.second.0.Linear.forward.0");
  CHECK(names[6] == "Module.second.2.Linear.backward.0");
  CHECK(names[9] == "Module.first.2.Linear.backward.0");
  CHECK(side.ranks(side.operators()[0].tensors[0]) == std::vector<int64_t>{0});
  CHECK(side.ranks(side.operators()[3].tensors[0]) == std::vector<int64_t>{1});
}

TEST_CASE("experts under one name are calls of their own, each on the ranks of its part") {
  const RankRun run(4, [](MadeCalls& calls, int rank) {
    calls.ran("Module.expert.Linear.forward.0", {kX}, {test::numbers(16, static_cast<uint64_t>(rank / 2) + 20)});
    calls.ran("Functional.add.0.forward", {kX}, {kX});
  });
  ExpertSplits splits;
  for (int64_t rank = 0; rank < 4; ++rank)
    splits[{"Module.expert.Linear.forward.0", 0, rank}] = static_cast<uint32_t>(rank / 2);
  const ShardedSide unparted(run.side()), side(unparted, splits);
  CHECK(&side.contents() == &unparted.contents());  // what was read is not read again
  REQUIRE(names_of(side) == std::vector<std::string>{"Module.expert.Linear.forward.0", "Module.expert.Linear.forward.0",
                                                     "Functional.add.0.forward"});
  CHECK(side.ranks(side.operators()[0].tensors[0]) == std::vector<int64_t>{0, 1});
  CHECK(side.ranks(side.operators()[1].tensors[0]) == std::vector<int64_t>{2, 3});
  CHECK(side.ranks(side.operators()[2].tensors[0]) == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("send and receive are ends of a connection, an all_reduce is none") {
  SequencedOp op;
  const auto is_end = [&](std::string_view type) {
    op.type = type;
    return sends(op);
  };
  CHECK(is_end("isend"));
  CHECK(is_end("irecv"));
  CHECK(is_end("batch_isend_irecv"));
  CHECK_FALSE(is_end("all_reduce"));
  CHECK_FALSE(is_end("Resend"));
}

}  // namespace
}  // namespace msdump
