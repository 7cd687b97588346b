#include "compare/match/cut/cut_side.h"

#include <fmt/format.h>

#include "compare/match/cut/cut_pairing.h"
#include "support/catch.h"
#include "support/cut_pieces.h"
#include "support/made_calls.h"
#include "support/must.h"

namespace msdump {
namespace {

using test::ScratchDir;

// Ranks of a run, each with its calls.
class RankRun {
 public:
  using Rank = std::function<void(MadeCalls&, int)>;
  RankRun(int ranks, const Rank& rank, int first = 0)
      : dump_(test::join_dump(written(scratch_, ranks, rank, first), Headers::kAll)), side_(test::side_of(dump_)) {}
  [[nodiscard]] const CompareSide& side() const { return side_; }

 private:
  static std::filesystem::path written(const ScratchDir& scratch, int ranks, const Rank& rank, int first) {
    for (int i = first; i < first + ranks; ++i) {
      MadeCalls calls(false);
      rank(calls, i);
      calls.write(scratch.path() / "dump", ranks == 1 ? "step0/proc7" : fmt::format("step0/rank{}", i));
    }
    return scratch.path() / "dump";
  }

  const ScratchDir scratch_;
  const test::JoinedDump dump_;
  const CompareSide side_;
};

Values part(const Values& all, int place, int parts) {
  const auto size = static_cast<std::ptrdiff_t>(all.size()) / parts;
  return {all.begin() + place * size, all.begin() + (place + 1) * size};
}
// a x `of_a` + b x `of_b`
Values combined(const Values& a, float of_a, const Values& b, float of_b) {
  Values all;
  for (size_t i = 0; i < a.size(); ++i) all.push_back(a[i] * of_a + b[i] * of_b);
  return all;
}

const Values kX = test::numbers(16, 1), kUp = test::numbers(16, 2), kDown = test::numbers(16, 3),
             kTerm = test::numbers(16, 4), kOut = test::numbers(16, 5);

// A column-parallel layer, a row-parallel one and the all_reduce of its terms, which are of a mean; it may add them up.
void tensor_parallel(MadeCalls& calls, int rank, bool sum = false) {
  calls.ran("Module.up.Column.forward.0", {kX}, {part(kUp, rank, 2)});
  const Values rest = combined(kDown, 2, kTerm, -1), reduced = combined(kDown, sum ? 2 : 1, kDown, 0);
  const Values& term = rank == 0 ? kTerm : rest;
  calls.ran("Functional.linear.0.forward", {part(kUp, rank, 2)}, {term});
  calls.ran("Distributed.all_reduce.0.forward", {term}, {reduced});
  calls.ran("Functional.gelu.0.forward", {kDown}, {kOut});
}
void whole_run(MadeCalls& calls, int) {
  calls.ran("Module.up.Column.forward.0", {kX}, {kUp});
  calls.ran("Functional.linear.0.forward", {kUp}, {kDown});
  calls.ran("Functional.gelu.0.forward", {kDown}, {kOut});
}

std::vector<std::string> names_of(const CutSide& side) {
  std::vector<std::string> names;
  for (const SequencedOp& op : side.operators()) names.push_back(op.name);
  return names;
}

TEST_CASE("runs on the same ranks with the same parts are not cut differently, all others are") {
  const RankRun one(1, whole_run), two(2, [](MadeCalls&calls, int rank) { tensor_parallel(calls, rank); });
  const RankRun again(2, [](MadeCalls& calls, int rank) { tensor_parallel(calls, rank); });
  const RankRun copies(2, whole_run), elsewhere(2, whole_run, 4);
  CHECK_FALSE(cut_differently(two.side(), again.side()));
  CHECK_FALSE(cut_differently(copies.side(), copies.side()));
  CHECK_FALSE(cut_differently(one.side(), one.side()));
  CHECK(cut_differently(two.side(), one.side()));
  CHECK(cut_differently(one.side(), two.side()));
  CHECK(cut_differently(two.side(), copies.side()));
  CHECK(cut_differently(copies.side(), elsewhere.side()));
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
  const CutSide side(run.side());
  REQUIRE(side.operators().size() == 10);
  CHECK(side.operators().front().tensors.size() == 2);
  CHECK_FALSE(side.operators().front().rank);
  for (const uint32_t tensor : side.operators().front().tensors) {
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
  });
  const CutSide side(run.side());
  const std::vector<std::string> names = names_of(side);
  REQUIRE(names.size() == 12);
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
  CutSplits splits;
  for (int64_t rank = 0; rank < 4; ++rank)
    splits[{"Module.expert.Linear.forward.0", 0, rank}] = static_cast<uint32_t>(rank / 2);
  const CutSide side(run.side(), splits);
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
  CHECK_FALSE(is_end("all_reduce"));
  CHECK_FALSE(is_end("Resend"));
}

// What pairing says of the tensor of that name.
struct Note {
  CutNote note;
  bool paired = false;
};
Note note_of(const PairedCuts& paired, std::string_view op, Io io) {
  for (size_t i = 0; i < paired.pairing.tensors.size(); ++i) {
    const TensorPair& pair = paired.pairing.tensors[i];
    if (pair.a == kNoTensor) continue;
    const TensorRecord& record = paired.a->tensors()[pair.a];
    if (record.name.op_name == op && record.name.io == io) return {paired.notes[i], pair.b != kNoTensor};
  }
  FAIL("no such tensor");
  return {};
}

TEST_CASE("two ranks against one process: each tensor is put together, the all_reduce has the value that goes in") {
  for (const bool sum : {false, true}) {
    const RankRun two(2, [&](MadeCalls& calls, int rank) { tensor_parallel(calls, rank, sum); });
    const RankRun one(1, whole_run);
    WorkerPool pool(1);
    const CancelToken never;
    StatisticTables of_two(*two.side().index), of_one(*one.side().index);
    const PairedCuts paired =
        test::must(pair_cuts({two.side(), of_two}, {one.side(), of_one}, nullptr, nullptr, {pool, never}));
    CHECK(note_of(paired, "Module.up.Column.forward.0", Io::kInput).note.layout == "copy of ranks 0-1");
    const Note up = note_of(paired, "Module.up.Column.forward.0", Io::kOutput);
    CHECK(up.note.layout == "concat axis 0 of ranks 0-1");
    CHECK(up.note.reference_layout.empty());
    CHECK(up.note.ranks == std::vector<int64_t>{0, 1});
    CHECK(up.note.known);
    CHECK(note_of(paired, "Functional.linear.0.forward", Io::kOutput).note.layout == "mean of ranks 0-1");
    const Note input = note_of(paired, "Distributed.all_reduce.0.forward", Io::kInput);
    CHECK(input.paired);
    CHECK(input.note.layout == "mean of ranks 0-1");
    const Note output = note_of(paired, "Distributed.all_reduce.0.forward", Io::kOutput);
    CHECK(output.paired);
    CHECK(output.note.layout == "copy of ranks 0-1");  // of a sum, too: that is what was meant
  }
}

}  // namespace
}  // namespace msdump
