#include "compare/match/placement/sharded_pairing.h"

#include <fmt/format.h>

#include "support/catch.h"
#include "support/cut_runs.h"
#include "support/must.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using namespace test::cut_runs;

PairedShards pair(const RankRun& a, const RankRun& b, const PlacementRules* layouts = nullptr) {
  WorkerPool pool(2);
  const CancelToken never;
  StatisticTables of_a(*a.side().index), of_b(*b.side().index);
  return test::must(pair_sharded({a.side(), of_a}, {b.side(), of_b}, nullptr, layouts, {pool, never}));
}

// What pairing says of the tensor of that name.
struct Note {
  PlacementNote note;
  bool paired = false;
};
Note note_of(const PairedShards& paired, std::string_view op, Io io) {
  for (size_t i = 0; i < paired.pairing.tensors.size(); ++i) {
    const TensorPair& pair = paired.pairing.tensors[i];
    if (pair.a == kNoId) continue;
    const TensorRecord& record = paired.a->tensors()[pair.a];
    if (record.name.op_name == op && record.name.io == io) return {paired.notes[i], pair.b != kNoId};
  }
  FAIL("no such tensor");
  return {};
}

TEST_CASE("two ranks against one process: each tensor is put together, the all_reduce has the value that goes in") {
  for (const bool sum : {false, true}) {
    const RankRun two(2, [&](MadeCalls& calls, int rank) { tensor_parallel(calls, rank, sum); });
    const RankRun one(1, whole_run);
    const PairedShards paired = pair(two, one);
    CHECK(note_of(paired, "Module.up.Column.forward.0", Io::kInput).note.layout == "copy of ranks 0-1");
    const Note up = note_of(paired, "Module.up.Column.forward.0", Io::kOutput);
    CHECK(up.note.layout == "concat axis 0 of ranks 0-1");
    CHECK(up.note.reference_layout.empty());
    CHECK(up.note.ranks == std::vector<int64_t>{0, 1});
    CHECK(up.note.is_established);
    CHECK(note_of(paired, "Functional.linear.0.forward", Io::kOutput).note.layout == "mean of ranks 0-1");
    const Note input = note_of(paired, "Distributed.all_reduce.0.forward", Io::kInput);
    CHECK(input.paired);
    CHECK(input.note.layout == "mean of ranks 0-1");
    const Note output = note_of(paired, "Distributed.all_reduce.0.forward", Io::kOutput);
    CHECK(output.paired);
    CHECK(output.note.layout == "copy of ranks 0-1");  // of a sum, too: that is what was meant
  }
}

// The tensor of the reference that a tensor of the candidate is compared with: "Functional.linear.0.forward"; empty: none.
std::string partner_of(const PairedShards& paired, std::string_view op, Io io, std::string_view slot = "0") {
  for (const TensorPair& tensors : paired.pairing.tensors) {
    if (tensors.a == kNoId) continue;
    const NameFacts& name = paired.a->tensors()[tensors.a].name;
    if (name.op_name != op || name.io != io || name.slot != slot) continue;
    if (tensors.b == kNoId) return {};
    const TensorRecord& record = *paired.b->members(tensors.b).records.front();
    return fmt::format("{} {}:{}", record.name.op_name, name_of(record.name.io), record.name.slot);
  }
  return "no such tensor";
}

Alone alone(const PairedShards& paired, std::string_view op, Io io) {
  for (const TensorPair& tensors : paired.pairing.tensors) {
    if (tensors.b == kNoId || tensors.a != kNoId) continue;
    const NameFacts& name = paired.b->tensors()[tensors.b].name;
    if (name.op_name == op && name.io == io) return tensors.alone;
  }
  return Alone::kUnknown;
}

TEST_CASE("what one side computes in other calls is compared by its values") {
  const Values weight = test::numbers(16, 11), bias = test::numbers(16, 12), product = test::numbers(16, 13);
  for (const float error : {1.00001F, 1.5F}) {
    const RankRun two(2, [&](MadeCalls& calls, int rank) {
      calls.ran("Functional.tanh.0.forward", {kX}, {kUp});
      calls.ran("Torch.matmul.0.forward", {kUp, part(weight, rank, 2)}, {part(product, rank, 2)});
      calls.ran("Tensor.__add__.0.forward", {part(product, rank, 2), part(bias, rank, 2)}, {part(kDown, rank, 2)});
      calls.ran("Functional.gelu.0.forward", {part(kDown, rank, 2)}, {part(kOut, rank, 2)});
      calls.ran("Tensor.max.0.forward", {test::numbers(4, 16)}, {{1}});
      calls.ran("Tensor.min.0.forward", {test::numbers(4, 17)}, {{-2.75F}});
      calls.ran("Tensor.mean.0.forward", {test::numbers(4, 14)}, {{3.25F * error}});
    });
    const RankRun one(1, [&](MadeCalls& calls, int) {
      calls.ran("Functional.tanh.0.forward", {kX}, {kUp});
      calls.ran("Functional.linear.0.forward", {kUp, weight, bias}, {kDown});
      calls.ran("Functional.gelu.0.forward", {kDown}, {kOut});
      calls.ran("Torch.amax.0.forward", {test::numbers(6, 18)}, {{1}});
      calls.ran("Torch.amin.0.forward", {test::numbers(6, 19)}, {{-2.75F}});
      calls.ran("Functional.cross_entropy.0.forward", {test::numbers(6, 15)}, {{3.25F}});
    });
    const PairedShards paired = pair(two, one);
    const auto& [note, is_paired] = note_of(paired, "Tensor.__add__.0.forward", Io::kOutput);
    CHECK(is_paired);
    CHECK(note.layout == "concat axis 0 of ranks 0-1");
    CHECK(partner_of(paired, "Tensor.__add__.0.forward", Io::kOutput) == "Functional.linear.0.forward output:0");
    CHECK(partner_of(paired, "Tensor.__add__.0.forward", Io::kInput, "1") == "Functional.linear.0.forward input:2");
    CHECK(partner_of(paired, "Torch.matmul.0.forward", Io::kInput, "1") == "Functional.linear.0.forward input:1");
    CHECK(partner_of(paired, "Tensor.__add__.0.forward", Io::kInput).empty());
    CHECK(partner_of(paired, "Torch.matmul.0.forward", Io::kOutput).empty());
    CHECK(alone(paired, "Functional.linear.0.forward", Io::kOutput) == Alone::kElsewhere);
    // The loss also where it differs; of other single numbers those that are equal, and not 1, which many tensors are.
    CHECK(partner_of(paired, "Tensor.mean.0.forward", Io::kOutput) == "Functional.cross_entropy.0.forward output:0");
    CHECK(partner_of(paired, "Tensor.min.0.forward", Io::kOutput) == "Torch.amin.0.forward output:0");
    CHECK(partner_of(paired, "Tensor.max.0.forward", Io::kOutput).empty());
    CHECK(partner_of(paired, "Tensor.mean.0.forward", Io::kInput).empty());
  }
}

// Four layers of one kind; the candidate has one more call of that kind before them. From `bad` on nothing fits but weights.
void layers(MadeCalls& calls, int rank, int ranks, int bad) {
  Values x = kX;
  int call = 0;
  const auto linear = [&](const Values& in, uint64_t seed, const Values& out) {
    const Values weight = test::numbers(16, seed);
    calls.ran(fmt::format("Functional.linear.{}.forward", call++),
              {in, ranks == 1 ? weight : part(weight, rank, ranks)}, {ranks == 1 ? out : part(out, rank, ranks)});
  };
  if (ranks > 1) linear(test::numbers(16, 70), 71, test::numbers(16, 72));
  for (int layer = 0; layer < 4; ++layer) {
    const auto seed = static_cast<uint64_t>(20 + layer);
    const Values out = test::numbers(16, layer >= bad ? seed + 20 : seed + 10);
    linear(x, seed, out);
    x = out;
  }
}

TEST_CASE("calls keep the partners that have their weights where a fault changes all they read and write") {
  const RankRun one(1, [](MadeCalls& calls, int) { layers(calls, 0, 1, 4); });
  for (const int bad : {0, 1, 3}) {
    INFO(bad);
    const RankRun two(2, [&](MadeCalls& calls, int rank) { layers(calls, rank, 2, bad); });
    const PairedShards paired = pair(two, one);
    for (int layer = 0; layer < 4; ++layer) {
      const std::string own = fmt::format("Functional.linear.{}.forward", layer + 1);
      CHECK(partner_of(paired, own, Io::kOutput) == fmt::format("Functional.linear.{}.forward output:0", layer));
    }
    CHECK(partner_of(paired, "Functional.linear.0.forward", Io::kOutput).empty());
  }
}

// Layers [first, last), each two weights and a call without one between them; a stage counts its calls from 0. All that is
// read and written differs from layer `bad` on.
void two_layers(MadeCalls& calls, int first, int last, int bad) {
  for (int layer = first; layer < last; ++layer) {
    const auto seed = static_cast<uint64_t>(100 * layer + (layer >= bad ? 1000 : 0));
    const int number = layer - first;
    calls.ran(fmt::format("Functional.linear.{}.forward", 2 * number),
              {test::numbers(16, seed + 1), test::numbers(16, static_cast<uint64_t>(layer + 1))},
              {test::numbers(16, seed + 2)});
    calls.ran(fmt::format("Functional.tanh.{}.forward", number), {test::numbers(16, seed + 2)},
              {test::numbers(16, seed + 3)});
    calls.ran(fmt::format("Functional.linear.{}.forward", 2 * number + 1),
              {test::numbers(16, seed + 3), test::numbers(16, static_cast<uint64_t>(layer + 51))},
              {test::numbers(16, seed + 4)});
  }
}

TEST_CASE("a call between calls whose weights tell has its partner there, and not where its name is, after a fault") {
  const RankRun one(1, [](MadeCalls& calls, int) { two_layers(calls, 0, 2, 2); });
  const RankRun stages(2, [](MadeCalls& calls, int rank) {
    if (rank == 1) calls.ran("Distributed.recv.0.forward", {}, {test::numbers(16, 9)});
    two_layers(calls, rank, rank + 1, 1);
    if (rank == 0) calls.ran("Distributed.send.0.forward", {test::numbers(16, 9)}, {});
  });
  const PairedShards paired = pair(stages, one);
  Texts partners;
  for (const TensorPair& tensors : paired.pairing.tensors) {
    if (!tensors.is_paired()) continue;
    const NameFacts &a = paired.a->tensors()[tensors.a].name, &b = paired.b->tensors()[tensors.b].name;
    if (a.io == Io::kOutput && a.op_name == "Functional.tanh.0.forward") partners.emplace_back(b.op_name);
  }
  CHECK(partners == Texts{"Functional.tanh.0.forward", "Functional.tanh.1.forward"});
}

// A chain of calls; of the call of another kind the candidate computes something else than the reference does, with zeros,
// and so do `wrong` of the calls after it.
void chain(MadeCalls& calls, int rank, int ranks, int wrong) {
  const auto own = [&](const Values& all) { return ranks == 1 ? all : part(all, rank, ranks); };
  const uint64_t other = ranks == 1 ? 0 : 100;
  const auto call = [&](const std::string& name, uint64_t in, uint64_t out) {
    calls.ran(name, {own(test::numbers(16, in))}, {own(test::numbers(16, out))});
  };
  call("Functional.relu.0.forward", 1, 2);
  const Values in = test::numbers(16, 50 + other), out = test::numbers(16, 51 + other);
  calls.ran("Tensor.clamp.0.forward", {own(in), own(Values(16, 0))}, {own(out)});
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t bad = static_cast<int>(i) < wrong ? other : 0;
    call(fmt::format("Functional.tanh.{}.forward", i), 2 + i + bad, 3 + i + bad);
  }
}

TEST_CASE("calls that have no value in common are parted if all that follows agrees") {
  const RankRun one(1, [](MadeCalls& calls, int) { chain(calls, 0, 1, 0); });
  const RankRun two(2, [](MadeCalls& calls, int rank) { chain(calls, rank, 2, 0); });
  const PairedShards paired = pair(two, one);
  CHECK(partner_of(paired, "Tensor.clamp.0.forward", Io::kInput).empty());
  CHECK(partner_of(paired, "Functional.tanh.0.forward", Io::kInput) == "Functional.tanh.0.forward input:0");
  // What follows does not agree: this may be a fault.
  const RankRun faulty(2, [](MadeCalls& calls, int rank) { chain(calls, rank, 2, 8); });
  CHECK(partner_of(pair(faulty, one), "Tensor.clamp.0.forward", Io::kInput) == "Tensor.clamp.0.forward input:0");
}

TEST_CASE("a call whose values are near those of its partner gets the one that has them") {
  const Values in = test::numbers(32, 1), out = test::numbers(32, 2);
  const auto near = [](const Values& all) { return combined(all, 1.15F, all, 0); };
  const RankRun two(2, [&](MadeCalls& calls, int rank) {
    calls.ran("Functional.tanh.0.forward", {part(in, rank, 2)}, {part(out, rank, 2)});
  });
  const auto whole = [&](bool both) {
    return RankRun(1, [&, both](MadeCalls& calls, int) {
      calls.ran("Functional.tanh.0.forward", {near(in)}, {near(out)});
      if (both) calls.ran("Functional.tanh.1.forward", {in}, {out});
    });
  };
  CHECK(partner_of(pair(two, whole(true)), "Functional.tanh.0.forward", Io::kOutput) ==
        "Functional.tanh.1.forward output:0");
  CHECK(partner_of(pair(two, whole(false)), "Functional.tanh.0.forward", Io::kOutput) ==
        "Functional.tanh.0.forward output:0");
}

// Each rank takes the mean of its own half: gradients are twice those of the whole, in forward calls of the backward pass,
// too. Before it and after it they would be wrong.
TEST_CASE("derivatives that are written by hand have the factor of gradients") {
  const auto run = [](MadeCalls& calls, int rank, int ranks) {
    const auto own = [&](uint64_t seed, float factor) {
      const Values all = test::numbers(32, seed);
      return ranks == 1 ? all : part(combined(all, factor, all, 0), rank, ranks);
    };
    calls.ran("Tensor.__mul__.0.forward", {own(1, 1)}, {own(2, 2)});
    calls.ran("Functional.gelu.0.backward", {own(3, 2)}, {own(4, 2)});
    calls.ran("Tensor.__sub__.0.forward", {own(4, 2)}, {own(5, 2)});
    for (uint64_t i = 0; i < 4; ++i)
      calls.ran(fmt::format("Functional.linear.{}.backward", i), {own(10 + i, 2)}, {own(20 + i, 2)});
    calls.ran("Tensor.add_.0.forward", {own(30, 1)}, {own(31, 2)});
  };
  const RankRun one(1, [&](MadeCalls& calls, int) { run(calls, 0, 1); });
  const RankRun two(2, [&](MadeCalls& calls, int rank) { run(calls, rank, 2); });
  const PairedShards paired = pair(two, one);
  const auto layout = [&](std::string_view op) { return note_of(paired, op, Io::kOutput).note.layout; };
  CHECK(layout("Functional.linear.0.backward") == "concat axis 0 of ranks 0-1, times 0.5");
  CHECK(layout("Tensor.__sub__.0.forward") == "concat axis 0 of ranks 0-1, times 0.5");
  CHECK(layout("Tensor.__mul__.0.forward") == "concat axis 0 of ranks 0-1");
  CHECK(layout("Tensor.add_.0.forward") == "concat axis 0 of ranks 0-1");
}

TEST_CASE("a stated layout is taken for as many ranks as it says, and one that does not fit is told") {
  const RankRun two(2, [](MadeCalls& calls, int rank) { tensor_parallel(calls, rank); });
  const RankRun one(1, whole_run);
  const PlacementRules rules =
      test::must(PlacementRules::parse("Functional.gelu* = mean\n*Column*:output:* = concat(axis=1)\n"));
  const PairedShards paired = pair(two, one, &rules);
  const PlacementNote stated = note_of(paired, "Functional.gelu.0.forward", Io::kOutput).note;
  CHECK(stated.layout == "mean of ranks 0-1");
  CHECK(stated.confidence == 1);
  CHECK(stated.problem.empty());
  const PlacementNote wrong = note_of(paired, "Module.up.Column.forward.0", Io::kOutput).note;
  CHECK(wrong.layout == "concat axis 0 of ranks 0-1");
  CHECK(wrong.problem.find("does not fit 8 on ranks 0-1") != std::string::npos);
}

// Four ranks; `odd` has another output.
void copies(MadeCalls& calls, int rank, int odd, const Values& other) {
  calls.ran("Functional.relu.0.forward", {kX}, {kUp});
  calls.ran("Functional.gelu.0.forward", {kUp}, {rank == odd ? other : kDown});
}

TEST_CASE("of copies that differ the one that is furthest from the reference is compared") {
  const RankRun one(1, [](MadeCalls& calls, int) { copies(calls, 0, -1, {}); });
  for (const int odd : {0, 2, 3}) {
    const RankRun four(4,
                       [&](MadeCalls& calls, int rank) { copies(calls, rank, odd, combined(kDown, 1.5F, kDown, 0)); });
    const PairedShards paired = pair(four, one);
    const auto& [note, is_paired] = note_of(paired, "Functional.gelu.0.forward", Io::kOutput);
    CHECK(is_paired);
    CHECK(note.layout == "copy of ranks 0-3");
    CHECK(note.uneven);
    for (const TensorPair& tensors : paired.pairing.tensors) {
      const TensorRecord& record = paired.a->tensors()[tensors.a];
      if (record.name.op_name != "Functional.gelu.0.forward" || record.name.io != Io::kOutput) continue;
      REQUIRE(record.pieces() != nullptr);
      const auto& records = paired.a->members(tensors.a).records;
      CHECK(record.pieces()->records == std::vector<const TensorRecord*>{records[static_cast<size_t>(odd)]});
    }
  }
}

// What the all_reduce reads is what no dumped call of its ranks wrote, or what the call `before` wrote.
void reduced(MadeCalls& calls, int rank, bool written) {
  const Values rest = combined(kDown, 2, kTerm, -1);
  const Values& term = rank == 0 ? kTerm : rest;
  calls.ran("Functional.relu.0.forward", {kX}, {kUp});
  if (written) calls.ran("Functional.linear.0.forward", {kUp}, {term});
  calls.ran("Distributed.all_reduce.0.forward", {term}, {combined(kDown, 2, kDown, 0)});
  calls.ran("Functional.gelu.0.forward", {combined(kDown, 2, kDown, 0)}, {kOut});
}

TEST_CASE("a collective gets the value of what wrote its input, or else of any tensor nearby that it is") {
  const RankRun one(1, [](MadeCalls& calls, int) {
    calls.ran("Functional.relu.0.forward", {kX}, {kUp});
    calls.ran("Functional.linear.0.forward", {kUp}, {combined(kDown, 2, kDown, 0)});
    calls.ran("Functional.gelu.0.forward", {combined(kDown, 2, kDown, 0)}, {kOut});
  });
  for (const bool written : {true, false}) {
    INFO(written);
    const RankRun two(2, [&](MadeCalls& calls, int rank) { reduced(calls, rank, written); });
    const PairedShards paired = pair(two, one);
    const auto& [note, is_paired] = note_of(paired, "Distributed.all_reduce.0.forward", Io::kInput);
    CHECK(is_paired);
    CHECK(note.layout == "sum of ranks 0-1");
    CHECK(note_of(paired, "Distributed.all_reduce.0.forward", Io::kOutput).note.layout == "copy of ranks 0-1");
    if (written)
      CHECK(partner_of(paired, "Distributed.all_reduce.0.forward", Io::kInput) ==
            "Functional.linear.0.forward output:0");
  }
}

// What the all_to_all reads is no tensor of the reference, where nearly all of the gradient of the loss is zeros.
TEST_CASE("a collective does not get a value that it is no nearer to than zeros are") {
  const int64_t count = 1280;
  Values sparse(count, 0);
  for (size_t i = 5; i < sparse.size(); i += 16) sparse[i] = -1;
  const RankRun one(1, [&](MadeCalls& calls, int) {
    calls.ran("Functional.relu.0.forward", {kX}, {kUp});
    calls.ran("Functional.cross_entropy.0.backward", {{1}}, {sparse});
    calls.ran("Functional.gelu.0.forward", {kDown}, {kOut});
  });
  const RankRun two(2, [&](MadeCalls& calls, int rank) {
    const Values dense = combined(test::numbers(count, 7), 0.2F, sparse, 0), own = part(dense, rank, 2);
    calls.ran("Functional.relu.0.forward", {kX}, {kUp});
    calls.ran("Functional.cross_entropy.0.backward", {{1}}, {part(sparse, rank, 2)});
    calls.ran("Distributed.all_to_all_single.0.forward", {own}, {part(dense, 1 - rank, 2)});
    calls.ran("Functional.gelu.0.forward", {kDown}, {kOut});
  });
  CHECK(partner_of(pair(two, one), "Distributed.all_to_all_single.0.forward", Io::kInput).empty());
}

}  // namespace
}  // namespace msdump
