// Collectives over ranks: honest exchanges are silent, and what one rank put in or got otherwise is found on it.
#include "check/ranks/collective_rules.h"

#include <cmath>
#include <functional>

#include "check/ranks/rank_values.h"
#include "made_ranks.h"
#include "small_dump.h"

namespace msdump::check {
namespace {

using Ranks = std::vector<int64_t>;

constexpr size_t kWorld = 4;
const Ranks kAll = {0, 1, 2, 3};

RuleSet only_collectives() { return only("collective_mismatch"); }

std::string in_group(const Ranks& ranks = kAll) { return R"("group":)" + group_json(ranks); }

Values sum_of(const std::vector<Values>& parts) {
  Values sum(parts.front().size(), 0);
  for (const Values& part : parts) {
    for (size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
  }
  return sum;
}

std::vector<Values> parts_of(size_t count = 8, uint64_t seed = 1) {
  std::vector<Values> parts;
  for (size_t rank = 0; rank < kWorld; ++rank) parts.push_back(seeded(seed * 100 + rank, count));
  return parts;
}

// An all_reduce of four ranks, as often as there are seeds.
void add_all_reduce(MadeRun& run, const std::string& keywords, uint64_t seed = 1, int number = 0, size_t step = 0) {
  const std::vector<Values> parts = parts_of(8, seed);
  for (size_t rank = 0; rank < kWorld; ++rank)
    run.at(rank, step)
        .call(fmt::format("Distributed.all_reduce.{}.forward", number), {parts[rank]}, {sum_of(parts)}, keywords);
}

const std::string kReduced = "Distributed.all_reduce.0.forward";

Values slice(const Values& whole, size_t first, size_t count) {
  return {whole.begin() + static_cast<std::ptrdiff_t>(first),
          whole.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

Values joined(const std::vector<Values>& parts) {
  Values whole;
  for (const Values& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

// What every API of torch.distributed does, honestly.
struct Trial {
  const char* name;
  std::function<void(MadeRun&)> run;
  const char* got;  // a result that rank `receiver` got
  size_t receiver = 2;
  bool told = true;  // is it said whose copy is odd?
};

std::vector<Trial> trials() {
  const auto name = [](const char* api) { return fmt::format("Distributed.{}.0.forward", api); };
  std::vector<Trial> all;
  all.push_back({"all_reduce", [](MadeRun& run) { add_all_reduce(run, in_group()); }, "output.0"});
  all.push_back({"reduce",
                 [=](MadeRun& run) {
                   const auto parts = parts_of();
                   for (size_t rank = 0; rank < kWorld; ++rank)
                     run.at(rank).call(name("reduce"), {parts[rank]}, {rank == 2 ? sum_of(parts) : seeded(rank + 70)},
                                       R"("dst":)" + number_json(2) + "," + in_group());
                 },
                 "output.0"});
  all.push_back(
      {"all_gather",
       [=](MadeRun& run) {
         const auto parts = parts_of();
         for (size_t rank = 0; rank < kWorld; ++rank)
           run.at(rank).call(name("all_gather"), {Arg(), parts[rank]}, {ValueLists(parts), parts[rank]}, in_group());
       },
       "output.0.1"});
  all.push_back(
      {"all_gather_into_tensor",
       [=](MadeRun& run) {
         const auto parts = parts_of();
         for (size_t rank = 0; rank < kWorld; ++rank)
           run.at(rank).call(name("all_gather_into_tensor"), {Arg(), parts[rank]}, {joined(parts)}, in_group());
       },
       "output.0"});
  all.push_back({"gather",
                 [=](MadeRun& run) {
                   const auto parts = parts_of();
                   for (size_t rank = 0; rank < kWorld; ++rank)
                     run.at(rank).call(name("gather"), {parts[rank]},
                                       {parts[rank], rank == 2 ? Arg(ValueLists(parts)) : Arg()},
                                       R"("dst":)" + number_json(2) + "," + in_group());
                 },
                 "output.1.3"});
  all.push_back({"scatter",
                 [=](MadeRun& run) {
                   const auto parts = parts_of();
                   for (size_t rank = 0; rank < kWorld; ++rank)
                     run.at(rank).call(name("scatter"), {Arg(), rank == 0 ? Arg(ValueLists(parts)) : Arg()},
                                       {parts[rank]}, R"("src":)" + number_json(0) + "," + in_group());
                 },
                 "output.0"});
  all.push_back(
      {"broadcast",
       [=](MadeRun& run) {
         const auto parts = parts_of();
         for (size_t rank = 0; rank < kWorld; ++rank)
           run.at(rank).call(name("broadcast"), {parts[rank], Arg::json(number_json(1))}, {parts[1]}, in_group());
       },
       "output.0"});
  all.push_back({"reduce_scatter_tensor",
                 [=](MadeRun& run) {
                   const auto parts = parts_of(8);
                   for (size_t rank = 0; rank < kWorld; ++rank)
                     run.at(rank).call(name("reduce_scatter_tensor"), {Arg(), parts[rank]},
                                       {slice(sum_of(parts), 2 * rank, 2)}, in_group());
                 },
                 "output.0"});
  all.push_back(
      {"reduce_scatter",
       [=](MadeRun& run) {
         const auto parts = parts_of(16);
         for (size_t rank = 0; rank < kWorld; ++rank) {
           ValueLists list;
           for (size_t i = 0; i < kWorld; ++i) list.push_back(slice(parts[rank], 4 * i, 4));
           run.at(rank).call(name("reduce_scatter"), {Arg(), list}, {slice(sum_of(parts), 4 * rank, 4)}, in_group());
         }
       },
       "output.0"});
  all.push_back({"all_to_all_single",
                 [=](MadeRun& run) {
                   const auto parts = parts_of(8);
                   for (size_t rank = 0; rank < kWorld; ++rank) {
                     Values got;
                     for (const Values& part : parts) got = joined({got, slice(part, 2 * rank, 2)});
                     run.at(rank).call(name("all_to_all_single"), {Arg(), parts[rank]}, {got}, in_group());
                   }
                 },
                 "output.0"});
  all.push_back({"all_to_all",
                 [=](MadeRun& run) {
                   const auto parts = parts_of(16);
                   for (size_t rank = 0; rank < kWorld; ++rank) {
                     ValueLists put, got;
                     for (size_t i = 0; i < kWorld; ++i) {
                       put.push_back(slice(parts[rank], 4 * i, 4));
                       got.push_back(slice(parts[i], 4 * rank, 4));
                     }
                     run.at(rank).call(name("all_to_all"), {Arg(), put}, {got}, in_group());
                   }
                 },
                 "output.0.3"});
  all.push_back({"recv",
                 [=](MadeRun& run) {
                   const Values sent = seeded(5);
                   run.at(0).call(name("send"), {sent, Arg::json(number_json(2))}, {sent});
                   run.at(2).call(name("recv"), {Arg(), Arg::json(number_json(0))}, {sent});
                 },
                 "output.0", 2, false});
  return all;
}

using Reasons = std::vector<std::pair<std::string, size_t>>;

CollectiveCounts counts_of(const MadeRun& run) { return run.check(only_collectives()).report().collectives; }

}  // namespace

TEST_CASE("honest exchanges of every kind are silent, and one that gave a rank something else is found on that rank") {
  for (const Trial& trial : trials()) {
    INFO(trial.name);
    MadeRun run(kWorld);
    trial.run(run);
    CHECK(run.check(only_collectives()).findings().empty());
    CHECK(counts_of(run).judged == counts_of(run).calls);
    CHECK(counts_of(run).calls == (trial.told ? kWorld : 2));
    CHECK(counts_of(run).not_judged.empty());

    MadeRun bad(kWorld);
    trial.run(bad);
    bad.at(trial.receiver)[fmt::format("Distributed.{}.0.forward.{}", trial.name, trial.got)][1] += 0.25F;
    const Finding finding = bad.check(only_collectives()).only("collective_mismatch");
    CHECK(finding.severity == Severity::kError);
    CHECK(finding.rank == 2);
    CHECK(finding.ranks == (trial.told ? Ranks{2} : Ranks{}));
    CHECK(finding.group == (trial.told ? kAll : Ranks{0, 2}));
  }
}

TEST_CASE("a sum without the part of one rank names that rank, and so does one with a part that counts twice") {
  for (const float times : {0.0F, 2.0F}) {
    MadeRun run(kWorld);
    add_all_reduce(run, in_group());
    const Values part = run.at(1)[kReduced + ".input.0"];
    for (size_t rank = 0; rank < kWorld; ++rank) {
      for (size_t i = 0; i < part.size(); ++i) run.at(rank)[kReduced + ".output.0"][i] += (times - 1) * part[i];
    }
    const Finding finding = run.check(only_collectives()).only("collective_mismatch");
    CHECK(finding.ranks == Ranks{1});
    const std::string why = times == 0 ? "it is the sum without rank 1's" : "what rank 1 put in counts 2 times";
    CHECK(finding.message.ends_with(why));
  }
}

TEST_CASE("a mean where a sum was asked for says so") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group() + R"(,"op":)" + reduction_json("SUM"));
  for (size_t rank = 0; rank < kWorld; ++rank) {
    for (float& value : run.at(rank)[kReduced + ".output.0"]) value /= kWorld;
  }
  const Finding finding = run.check(only_collectives()).only("collective_mismatch");
  CHECK(finding.ranks.empty());
  CHECK(finding.message.ends_with("it is 0.25 times the sum"));
}

TEST_CASE("the reduction that a call was given counts, and one that it does not say is taken from what fits") {
  for (const char* const said : {"MAX", "MIN", "PRODUCT", "AVG"}) {
    for (const bool is_said : {true, false}) {
      INFO(said << is_said);
      MadeRun run(kWorld);
      const auto parts = parts_of();
      Values result;
      for (size_t i = 0; i < parts.front().size(); ++i) {
        const float a = parts[0][i], b = parts[1][i], c = parts[2][i], d = parts[3][i];
        const std::string which = said;
        result.push_back(which == "MAX"       ? std::max({a, b, c, d})
                         : which == "MIN"     ? std::min({a, b, c, d})
                         : which == "PRODUCT" ? a * b * c * d
                                              : (a + b + c + d) / 4);
      }
      for (size_t rank = 0; rank < kWorld; ++rank)
        run.at(rank).call(kReduced, {parts[rank]}, {result},
                          in_group() + (is_said ? R"(,"op":)" + reduction_json(said) : ""));
      CHECK(run.check(only_collectives()).findings().empty());
      for (size_t rank = 0; rank < kWorld; ++rank) run.at(rank)[kReduced + ".output.0"][3] += 0.01F;
      CHECK(run.check(only_collectives()).of("collective_mismatch").size() == 1);
    }
  }
}

TEST_CASE("sums in another order are the same sum, larger errors are not") {
  for (const auto& [roundings, found] : {std::pair(3.0F, false), std::pair(100.0F, true)}) {
    MadeRun run(kWorld);
    add_all_reduce(run, in_group());
    float magnitude = 0;
    for (size_t rank = 0; rank < kWorld; ++rank) magnitude += std::abs(run.at(rank)[kReduced + ".input.0"][2]);
    for (size_t rank = 0; rank < kWorld; ++rank)
      run.at(rank)[kReduced + ".output.0"][2] += roundings * magnitude * 0x1p-24F;
    CHECK(run.check(only_collectives()).findings().empty() != found);
  }
}

TEST_CASE("results that differ by rounding only are a note") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group());
  float& value = run.at(3)[kReduced + ".output.0"][2];
  value = std::nextafter(value, 10.0F);
  const Finding finding = run.check(only_collectives()).only("collective_mismatch");
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.ranks == Ranks{3});
}

TEST_CASE("an input that shows the output says nothing, as the memory is shared") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group());
  for (size_t rank = 0; rank < kWorld; ++rank)
    run.at(rank)[kReduced + ".input.0"] = run.at(rank)[kReduced + ".output.0"];
  CHECK(run.check(only_collectives()).findings().empty());
}

TEST_CASE("it is enough that the memory of one rank is shared") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group() + R"(,"op":)" + reduction_json("SUM"));
  run.at(2)[kReduced + ".input.0"] = run.at(2)[kReduced + ".output.0"];
  CHECK(run.check(only_collectives()).findings().empty());
  CHECK(counts_of(run).not_judged == Reasons{{"show as input what came out", 4}});
}

TEST_CASE("an entry that is not counted by a number is none of a library of collectives") {
  for (const char* const name : {"Distributed.all_reduce.0x.forward", "Distributed.all_reduce..forward",
                                 "Distributed.all_reduce.-1.forward", "Distributed.all_reduce.0.backward"}) {
    MadeRun run(2);
    for (size_t rank = 0; rank < 2; ++rank) run.at(rank).call(name, {seeded(rank)}, {seeded(9)}, in_group({0, 1}));
    INFO(name);
    CHECK(run.check(only_collectives()).findings().empty());
    CHECK(counts_of(run).judged == 0);
  }
}

TEST_CASE("numbers are read in pieces, from any element on") {
  constexpr size_t kCount = 70'000;
  const test::ScratchDir scratch;
  const Values values = seeded(5, kCount);
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats(values));
  const Checked checked(scratch.path());
  std::vector<double> read(kCount - 3);
  REQUIRE(read_numbers(checked.dump(), TensorId(0), 3, read));
  CHECK(std::equal(read.begin(), read.end(), values.begin() + 3));
  CHECK_FALSE(read_numbers(checked.dump(), TensorId(0), 4, read));
  CHECK_FALSE(read_numbers(checked.dump(), TensorId(0), -1, read));
}

TEST_CASE("a call that may not have ended when it was dumped says nothing") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group() + R"(,"async_op":{"type":"bool","value":true})");
  run.at(1)[kReduced + ".output.0"][0] += 1;
  CHECK(run.check(only_collectives()).findings().empty());

  MadeRun pair(kWorld);
  pair.at(0).call("Distributed.isend.0.forward", {seeded(1), Arg::json(number_json(1))}, {seeded(1)});
  pair.at(1).call("Distributed.irecv.0.forward", {Arg(), Arg::json(number_json(0))}, {seeded(2)});
  CHECK(pair.check(only_collectives()).findings().empty());
}

TEST_CASE("calls that nobody could judge are counted by what was in the way") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group(), 1, 0);
  add_all_reduce(run, in_group() + R"(,"async_op":{"type":"bool","value":true})", 2, 1);
  for (size_t rank = 0; rank < kWorld; ++rank) {
    MadeRank& at = run.at(rank);
    at.call("Distributed.reduce.0.forward", {seeded(rank)}, {seeded(9)}, in_group());
    at.call("Distributed.all_gather_into_tensor.0.forward", {Arg(), seeded(rank, 2)}, {seeded(7)},
            in_group({0, 1, 2, 3, 4}));
    at.call("Distributed.batch_isend_irecv.0.forward", {seeded(rank)}, {seeded(7)});
  }
  run.at(0).call("Distributed.send.0.forward", {seeded(1), Arg::json(number_json(1))}, {});
  const CollectiveCounts counts = counts_of(run);
  CHECK(counts.calls == 21);
  CHECK(counts.judged == 4);
  CHECK(counts.not_judged == Reasons{{"are of a kind that is not read (batch_isend_irecv)", 4},
                                     {"do not say which rank or which reduction", 4},
                                     {"have ranks that are not in the dump", 4},
                                     {"may not have ended when dumped", 4},
                                     {"have no counterpart on the other ranks", 1}});
}

TEST_CASE("constants that fit are judged, and a result that the input shows is not") {
  MadeRun zeros(kWorld);
  const Values nothing(8, 0);
  for (size_t rank = 0; rank < kWorld; ++rank) {
    zeros.at(rank).call(kReduced, {nothing}, {nothing}, in_group());
    zeros.at(rank).call("Distributed.broadcast.0.forward", {nothing, Arg::json(number_json(1))}, {nothing}, in_group());
    zeros.at(rank).call("Distributed.all_gather_into_tensor.0.forward", {Arg(), Values(2, 0)}, {nothing}, in_group());
    zeros.at(rank).call("Distributed.reduce_scatter_tensor.0.forward", {Arg(), nothing}, {Values(2, 0)}, in_group());
  }
  CHECK(counts_of(zeros).judged == 4 * kWorld);
  MadeRun shared(kWorld);
  add_all_reduce(shared, in_group() + R"(,"op":)" + reduction_json("SUM"));
  for (size_t rank = 0; rank < kWorld; ++rank)
    shared.at(rank)[kReduced + ".input.0"] = shared.at(rank)[kReduced + ".output.0"];
  CHECK(counts_of(shared).not_judged == Reasons{{"show as input what came out", 4}});
}

TEST_CASE("where a rank of the group was not dumped only the results are compared") {
  const Ranks five = {0, 1, 2, 3, 4};
  MadeRun run(kWorld);
  add_all_reduce(run, in_group(five));
  for (size_t rank = 0; rank < kWorld; ++rank) run.at(rank)[kReduced + ".output.0"][0] += 1;
  CHECK(run.check(only_collectives()).findings().empty());
  run.at(1)[kReduced + ".output.0"][0] += 1;
  const Finding finding = run.check(only_collectives()).only("collective_mismatch");
  CHECK(finding.ranks == Ranks{1});
  CHECK(finding.group == five);
}

TEST_CASE("lists of parts are not judged where a rank of the group is not there, whatever their length is") {
  MadeRun run(kWorld);
  const auto parts = parts_of();
  for (size_t rank = 0; rank < kWorld; ++rank) {
    run.at(rank).call("Distributed.all_gather.0.forward", {Arg(), parts[rank]}, {ValueLists(parts), parts[rank]},
                      in_group({0, 1, 2, 3, 4}));
  }
  CHECK(counts_of(run).not_judged == Reasons{{"have ranks that are not in the dump", 4}});
}

TEST_CASE("calls of other groups have the same names and are not mixed") {
  MadeRun run(kWorld);
  for (size_t first : {0U, 2U}) {
    const std::vector<Values> parts = {seeded(first), seeded(first + 1)};
    for (size_t i = 0; i < 2; ++i)
      run.at(first + i).call(kReduced, {parts[i]}, {sum_of(parts)},
                             in_group({static_cast<int64_t>(first), static_cast<int64_t>(first + 1)}));
  }
  CHECK(run.check(only_collectives()).findings().empty());
  run.at(3)[kReduced + ".input.0"][0] += 1;
  CHECK(run.check(only_collectives()).only("collective_mismatch").group == Ranks{2, 3});
}

TEST_CASE("counters of ranks differ: calls of a group are joined by their order") {
  MadeRun run(kWorld);
  const auto parts = parts_of(), others = parts_of(8, 2);
  for (size_t rank = 0; rank < kWorld; ++rank) {
    const size_t skipped = rank == 0 ? 7 : 0;
    for (const auto& [number, put] : {std::pair(skipped, &parts), std::pair(skipped + 1, &others)})
      run.at(rank).call(fmt::format("Distributed.all_reduce.{}.forward", number), {(*put)[rank]}, {sum_of(*put)},
                        in_group());
  }
  CHECK(run.check(only_collectives()).findings().empty());
  run.at(0)["Distributed.all_reduce.8.forward.input.0"][0] += 1;
  CHECK(run.check(only_collectives()).findings().size() == 1);
}

TEST_CASE("a rank with more calls than the others cannot be joined") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group());
  run.at(0).call("Distributed.all_reduce.1.forward", {seeded(50)}, {seeded(51)}, in_group());
  run.at(2)[kReduced + ".output.0"][0] += 1;
  CHECK(run.check(only_collectives()).findings().empty());
}

TEST_CASE("a group that is not said needs other calls of the same ranks that fit") {
  MadeRun run(kWorld);
  add_all_reduce(run, {}, 1, 0);
  run.at(2)[kReduced + ".input.0"][0] += 1;
  CHECK(run.check(only_collectives()).findings().empty());
  add_all_reduce(run, {}, 2, 1);
  CHECK(run.check(only_collectives()).findings().empty());
  add_all_reduce(run, {}, 3, 2);
  CHECK(run.check(only_collectives()).findings().size() == 1);
}

TEST_CASE("a group that is a guess, and fits nothing, is not judged") {
  MadeRun run(kWorld);
  add_all_reduce(run, "");
  for (size_t rank = 0; rank < kWorld; ++rank) run.at(rank)[kReduced + ".output.0"] = seeded(70);
  CHECK(run.check(only_collectives()).findings().empty());
  CHECK(counts_of(run).judged == 0);
  CHECK(counts_of(run).not_judged == Reasons{{"do not say their group, and do not fit all ranks", 4}});
}

TEST_CASE("a guessed group is confirmed by the ranks that got the sum of all inputs, if these are most") {
  const auto odd_of = [](size_t wrong, bool telling) {
    MadeRun run(kWorld);
    add_all_reduce(run, "");
    for (size_t rank = 0; rank < wrong; ++rank) run.at(rank)[kReduced + ".output.0"][1] += 0.5F;
    if (!telling) {
      // Of the groups {0}, {1, 2, 3} rank 0 got its own input, and all others the sum of all, too.
      Values& alone = run.at(0)[kReduced + ".input.0"];
      for (size_t rank = 1; rank < kWorld; ++rank) {
        for (size_t i = 0; i < alone.size(); ++i) run.at(rank)[kReduced + ".output.0"][i] -= alone[i];
      }
      std::fill(alone.begin(), alone.end(), 0.0F);
      run.at(0)[kReduced + ".output.0"] = seeded(71);
    }
    const test::Checked checked = run.check(only_collectives());
    return checked.findings().empty() ? Ranks() : checked.only("collective_mismatch").ranks;
  };
  CHECK(odd_of(1, true) == Ranks{0});
  CHECK(odd_of(2, true).empty());
  CHECK(odd_of(1, false).empty());
}

TEST_CASE("a part that explains the error needs no other calls") {
  MadeRun run(kWorld);
  add_all_reduce(run, {});
  const Values part = run.at(3)[kReduced + ".input.0"];
  for (size_t rank = 0; rank < kWorld; ++rank) {
    for (size_t i = 0; i < part.size(); ++i) run.at(rank)[kReduced + ".output.0"][i] -= part[i];
  }
  CHECK(run.check(only_collectives()).only("collective_mismatch").ranks == Ranks{3});
}

TEST_CASE("rows that ranks send each other by sizes of their own") {
  const auto make = [](MadeRun& run) {
    const Values from0 = seeded(1, 6), from1 = seeded(2, 8);  // rows of two: 1 + 2 and 3 + 1
    const auto sizes = [](int64_t a, int64_t b) {
      return Arg::json("[" + number_json(a) + "," + number_json(b) + "]");
    };
    run.at(0).call("Distributed.all_to_all_single.0.forward", {Arg(), from0, sizes(1, 3), sizes(1, 2)},
                   {joined({slice(from0, 0, 2), slice(from1, 0, 6)})}, in_group({0, 1}));
    run.at(1).call("Distributed.all_to_all_single.0.forward", {Arg(), from1, sizes(2, 1), sizes(3, 1)},
                   {joined({slice(from0, 2, 4), slice(from1, 6, 2)})}, in_group({0, 1}));
  };
  MadeRun run(2);
  make(run);
  CHECK(run.check(only_collectives()).findings().empty());
  run.at(1)["Distributed.all_to_all_single.0.forward.output.0"][3] += 1;
  const Finding finding = run.check(only_collectives()).only("collective_mismatch");
  CHECK(finding.message ==
        "over ranks 0-1: what rank 1 got from rank 0 is not what that rank put in, from element 3 of its "
        "output on");
}

TEST_CASE("a rank that got the parts of another one is found, however often these are right") {
  MadeRun run(kWorld);
  const auto parts = parts_of(8);
  for (size_t rank = 0; rank < kWorld; ++rank) {
    Values got;
    for (const Values& part : parts) got = joined({got, slice(part, rank == 2 ? 2 : 2 * rank, 2)});
    run.at(rank).call("Distributed.all_to_all_single.0.forward", {Arg(), parts[rank]}, {got}, in_group());
  }
  CHECK(run.check(only_collectives()).only("collective_mismatch").ranks == Ranks{2});
}

TEST_CASE("the first wrong element is named, in large parts too") {
  constexpr size_t kCount = 300'000;  // more than is read at once
  MadeRun run(2);
  const std::vector<Values> parts = {seeded(1, kCount), seeded(2, kCount)};
  for (size_t rank = 0; rank < 2; ++rank)
    run.at(rank).call("Distributed.all_gather_into_tensor.0.forward", {Arg(), parts[rank]}, {joined(parts)},
                      in_group({0, 1}));
  CHECK(run.check(only_collectives()).findings().empty());
  run.at(1)["Distributed.all_gather_into_tensor.0.forward.output.0"][590'000] += 1;
  CHECK(
      run.check(only_collectives()).only("collective_mismatch").message.find("from element 590000 of its output on") !=
      std::string::npos);
}

TEST_CASE("of gathered parts the one that all got otherwise lies on the rank that put it in") {
  MadeRun run(kWorld);
  const auto parts = parts_of();
  for (size_t rank = 0; rank < kWorld; ++rank)
    run.at(rank).call("Distributed.all_gather_into_tensor.0.forward", {Arg(), parts[rank]}, {joined(parts)},
                      in_group());
  run.at(1)["Distributed.all_gather_into_tensor.0.forward.input.1"][0] += 1;
  CHECK(run.check(only_collectives()).only("collective_mismatch").ranks == Ranks{1});
}

TEST_CASE("NaN and infinities come out as they add up") {
  MadeRun run(kWorld);
  add_all_reduce(run, in_group());
  run.at(1)[kReduced + ".input.0"][0] = kNan;
  run.at(2)[kReduced + ".input.0"][1] = kInf;
  for (size_t rank = 0; rank < kWorld; ++rank) {
    run.at(rank)[kReduced + ".output.0"][0] = kNan;
    run.at(rank)[kReduced + ".output.0"][1] = kInf;
  }
  CHECK(run.check(only_collectives()).findings().empty());
  for (size_t rank = 0; rank < kWorld; ++rank) run.at(rank)[kReduced + ".output.0"][2] = kNan;
  CHECK(run.check(only_collectives()).findings().size() == 1);
}

TEST_CASE("another checksum alone is no other result, another checksum with other numbers is") {
  const Values result = {1, 2, 3, 4, 5, 6, 7, 8}, moved = {2, 1, 3, 4, 5, 6, 7, 8}, other = {1, 2, 3, 4, 5, 6, 7.5, 8};
  for (const Values& third : {result, moved, other}) {
    MadeRun run(3);
    run.write_statistics(true);
    for (size_t rank = 0; rank < 3; ++rank)
      run.at(rank).call(kReduced, {rank == 0 ? result : Values(8, 0)}, {rank == 2 ? third : result},
                        in_group({0, 1, 2}));
    const auto findings = run.check(only_collectives()).findings();
    REQUIRE(findings.size() == (third == other ? 1 : 0));
    if (findings.empty()) continue;
    CHECK(findings.front().ranks == Ranks{2});
    CHECK(findings.front().severity == Severity::kError);
  }
}

TEST_CASE("of several results by statistics the one that cannot be is named") {
  const Values result = {1, 2, 3, 4, 5, 6, 7, 8}, moved = {2, 1, 3, 4, 5, 6, 7, 8};
  Values wrong = result, half = result;  // no input shows what came out
  for (float& value : wrong) value *= 5;
  for (float& value : half) value /= 2;
  MadeRun run(kWorld);
  run.write_statistics(true);
  for (size_t rank = 0; rank < kWorld; ++rank) {
    run.at(rank).call(kReduced, {rank < 2 ? half : Values(8, 0)},
                      {rank == 2   ? wrong
                       : rank == 3 ? moved
                                   : result},
                      in_group() + R"(,"op":)" + reduction_json("SUM"));
  }
  CHECK(run.check(only_collectives()).only("collective_mismatch").message.find("what rank 2 got is not the sum") !=
        std::string::npos);
}

TEST_CASE("statistics of zeros add up to zeros") {
  MadeRun run(kWorld);
  run.write_statistics();
  for (size_t rank = 0; rank < kWorld; ++rank)
    run.at(rank).call(kReduced, {Values(8, 0)}, {Values(8, 0)}, in_group() + R"(,"op":)" + reduction_json("SUM"));
  CHECK(run.check(only_collectives()).findings().empty());
  CHECK(counts_of(run).judged == kWorld);
}

TEST_CASE("where two ranks got something else than one put in, it lies on that one") {
  MadeRun run(kWorld);
  for (size_t rank = 0; rank < kWorld; ++rank) {
    run.at(rank).call("Distributed.broadcast.0.forward", {seeded(rank), Arg::json(number_json(1))},
                      {seeded(rank < 2 ? 1 : 50)}, in_group());
  }
  const Finding finding = run.check(only_collectives()).only("collective_mismatch");
  CHECK(finding.ranks == Ranks{1});
  CHECK(finding.message.starts_with("over ranks 0-3: what 2 ranks got is not what rank 1 put in"));
}

TEST_CASE("statistics show a sum that cannot be, and no other") {
  for (const bool bad : {false, true}) {
    MadeRun run(kWorld);
    run.write_statistics();
    add_all_reduce(run, in_group() + R"(,"op":)" + reduction_json("SUM"));
    for (size_t rank = 0; bad && rank < kWorld; ++rank) {
      for (float& value : run.at(rank)[kReduced + ".output.0"]) value = value * 1.5F + 0.5F;
    }
    CHECK(run.check(only_collectives()).findings().size() == (bad ? 1 : 0));
  }
}

}  // namespace msdump::check
