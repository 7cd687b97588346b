// A check that several processes share: what stays together, and what the rules find out without judging.
#include "check/check.h"

#include <algorithm>
#include <map>
#include <set>

#include "check/ranks/collective_rules.h"
#include "check/ranks/exchange_judge.h"
#include "parts/part_file.h"
#include "small_dump.h"

namespace msdump::check {
namespace {

void write(const test::ScratchDir& scratch, std::string_view op, int64_t rank, int64_t step,
           const std::vector<float>& elements = {1, 2}) {
  scratch.write(tensor_path(op, 1, "output.0", step, rank), floats(elements));
}

std::string weight_path(std::string_view name, int64_t rank, int64_t step) {
  return fmt::format("rank_{}/Net/0/{}/Parameter.{}.0.0.1700000000000009.output.0.DefaultFormat.npy", rank, step, name);
}

// Honest: the sum of what two ranks put in.
void add_all_reduce(const test::ScratchDir& scratch, int64_t rank, int64_t step) {
  const auto at = static_cast<float>(rank);
  scratch.write(tensor_path("Default/AllReduce-op2", 1, "input.0", step, rank), floats({1, 2, 4, 5 + at}));
  write(scratch, "Default/AllReduce-op2", rank, step, {2, 4, 8, 11});
}

RuleSet collectives_and_replicas() {
  RuleSet rules = only("collective_mismatch");
  REQUIRE(rules.apply("replica_mismatch"));
  return rules;
}

// A verdict that something is wrong, as a part holds it.
std::string verdict_text(uint32_t tensor) {
  FactWriter writer;
  writer(true, ExchangeVerdict::Kind::kWrong, ExchangeVerdict::Obstacle::kValues, true, false, std::vector<int64_t>(),
         tensor, 0.5, std::string("as the store says"));
  return writer.take();
}

// Says the same of the first exchange, whatever it is, and nothing else.
class SaysOfFirst : public FactStore {
 public:
  explicit SaysOfFirst(std::string fact) : fact_(std::move(fact)) {}
  [[nodiscard]] std::optional<std::string_view> find(const FactKey& key) const override {
    return key == FactKey{FactKind::kExchange} ? std::optional<std::string_view>(fact_) : std::nullopt;
  }
  void keep(const FactKey&, std::string) override {}

 private:
  const std::string fact_;
};

class Shared {
 public:
  explicit Shared(const test::ScratchDir& scratch, const RuleSet& rules = RuleSet::defaults())
      : dump_(test::list_dump({scratch.path()}, Headers::kWhereNeeded)),
        run_({&dump_.index, &dump_.tensors()}, rules) {}

  [[nodiscard]] CheckRun& run() { return run_; }
  [[nodiscard]] const TensorRecord& record(uint32_t tensor) const { return dump_.tensors()[tensor]; }

  // Tensors of one unit, as "NAME rank R step S".
  [[nodiscard]] std::vector<std::set<std::string>> units(uint32_t shards = 1) const {
    const CheckUnits units = check_units(run_, shards);
    std::vector<std::set<std::string>> named(units.bytes.size());
    for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor) {
      if (units.of[tensor] == kNone) continue;
      const Identity identity = run_.dump.identity(tensor);
      named[units.of[tensor]].insert(fmt::format("{} rank {} step {}", identity.name.op_name,
                                                 identity.rank.value_or(-1), identity.step.value_or(-1)));
    }
    return named;
  }

  [[nodiscard]] uint32_t output_of(std::string_view op) const {
    for (uint32_t tensor = 0; tensor < dump_.tensors().size(); ++tensor) {
      if (record(tensor).name.op_name == op && record(tensor).name.io == Io::kOutput) return tensor;
    }
    FAIL("no output");
    return kNone;
  }

  // Messages about exchanges, when a store has this fact of the first of them.
  [[nodiscard]] std::vector<std::string> judged_with(const std::string& fact) {
    WorkerPool pool(2);
    const CancelToken never;
    SaysOfFirst store(fact);
    const RunContext context{pool, never, nullptr, &store};
    std::vector<Finding> findings;
    REQUIRE(run_.facts.read_all({pool, never, nullptr, nullptr}));
    REQUIRE(judge_collectives(run_.dump, run_.facts, run_.rules, context, findings));
    std::vector<std::string> messages;
    for (const Finding& finding : findings) messages.push_back(finding.message);
    return messages;
  }

  // Kinds of the facts that are found out about the tensors of `names`.
  [[nodiscard]] std::map<FactKind, int> facts_of(const std::set<std::string>& names) {
    std::vector<bool> own;
    for (const TensorRecord& one : dump_.tensors()) own.push_back(names.contains(std::string(one.name.op_name)));
    WorkerPool pool(2);
    const CancelToken never;
    KeptFacts facts;
    REQUIRE(find_facts(run_, own, {pool, never, nullptr, &facts}));
    std::map<FactKind, int> kinds;
    for (const auto& [key, bytes] : facts.facts()) ++kinds[key.kind];
    return kinds;
  }

 private:
  test::ListedDump dump_;
  CheckRun run_;
};

using Units = std::vector<std::set<std::string>>;

}  // namespace

TEST_CASE("What ranks exchange stays together, in each step; a large operator is a unit for each rank, in all steps") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) {
    for (const int64_t step : {0, 1}) {
      write(scratch, "Default/Mul-op1", rank, step);
      write(scratch, "Default/AllReduce-op2", rank, step);
    }
  }
  Units units = Shared(scratch).units();
  std::sort(units.begin(), units.end());
  CHECK(units == Units{{"Default_AllReduce-op2 rank 0 step 0", "Default_AllReduce-op2 rank 1 step 0"},
                       {"Default_AllReduce-op2 rank 0 step 1", "Default_AllReduce-op2 rank 1 step 1"},
                       {"Default_Mul-op1 rank 0 step 0", "Default_Mul-op1 rank 0 step 1"},
                       {"Default_Mul-op1 rank 1 step 0", "Default_Mul-op1 rank 1 step 1"}});
}

TEST_CASE("The ranks of an operator stay together as long as that leaves units enough for all shards") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) {
    for (int op = 0; op < 8; ++op) write(scratch, fmt::format("Default/Mul-op{}", op), rank, 0);
  }
  CHECK(Shared(scratch).units(2).size() == 8);
  CHECK(Shared(scratch).units(2).front() ==
        std::set<std::string>{"Default_Mul-op0 rank 0 step 0", "Default_Mul-op0 rank 1 step 0"});
  CHECK(Shared(scratch).units(3).size() == 16);
  RuleSet rules = RuleSet::defaults();
  REQUIRE(rules.apply("replica_mismatch:off"));
  CHECK(Shared(scratch, rules).units(1).size() == 16);
}

TEST_CASE("What ranks exchange is no unit if the rule is off") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) write(scratch, "Default/AllReduce-op2", rank, 0);
  CHECK(Shared(scratch).units().size() == 1);
  RuleSet rules = RuleSet::defaults();
  REQUIRE(rules.apply("collective_mismatch:off"));
  CHECK(Shared(scratch, rules).units().size() == 2);
}

TEST_CASE("A unit has the bytes of its tensors, and what is not read is in none") {
  const test::ScratchDir scratch;
  write(scratch, "Default/Mul-op3", 0, 0, {1, 2, 3});
  write(scratch, "Default/Mul-op3", 0, 1, {1, 2, 3});
  write(scratch, "Default/Mul-op4", 0, 0);
  Shared shared(scratch);
  CheckUnits units = check_units(shared.run(), 1);
  REQUIRE(units.bytes.size() == 2);
  const auto [small, large] = std::minmax(units.bytes[0], units.bytes[1]);
  CHECK(large == 2 * (small + 4));  // two steps, three elements for two
  std::vector<bool> wanted;
  for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor)
    wanted.push_back(shared.record(tensor).name.op_name == "Default_Mul-op4");
  shared.run().facts.limit_to(wanted);
  units = check_units(shared.run(), 1);
  CHECK(units.bytes.size() == 1);
  CHECK(std::count(units.of.begin(), units.of.end(), kNone) == 2);
}

TEST_CASE("What the rules ask of weights and ranges is found out with the statistics, of the given tensors alone") {
  const test::ScratchDir scratch;
  for (const int64_t step : {0, 1}) {
    scratch.write(
        fmt::format("rank_0/Net/0/{}/Parameter.fc.weight.0.0.1700000000000009.output.0.DefaultFormat.npy", step),
        matrix({0, 0, 1, 2}, 2));
    write(scratch, "Default/Mul-op3", 0, step);
  }
  RuleSet rules = RuleSet::defaults();
  REQUIRE(rules.apply("tensor_range:range_start_inclusive=0,range_end_inclusive=1,range_percentage_lt=99"));
  CHECK(Shared(scratch, rules).facts_of({"fc.weight"}) == std::map<FactKind, int>{{FactKind::kStatistics, 2},
                                                                                  {FactKind::kWeightChange, 1},
                                                                                  {FactKind::kDeadRows, 1},
                                                                                  {FactKind::kInRange, 2}});
  CHECK(Shared(scratch, rules).facts_of({"Default_Mul-op3"}) ==
        std::map<FactKind, int>{{FactKind::kStatistics, 2}, {FactKind::kInRange, 2}});
}

TEST_CASE(
    "What ranks exchanged is found out where all of it is at hand, and a weight that two ranks have otherwise, too") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) {
    const auto at = static_cast<float>(rank);
    for (const int64_t step : {0, 1}) {
      add_all_reduce(scratch, rank, step);
      scratch.write(weight_path("fc.weight", rank, step), floats({1, 2, 3, step == 0 ? 5 : 6 + at}));
    }
    scratch.write(weight_path("fc.bias", rank, 0), floats({7, 8, 9, 5}));
  }
  const auto count = [&](const std::set<std::string>& names, FactKind kind) {
    return Shared(scratch, collectives_and_replicas()).facts_of(names)[kind];
  };
  CHECK(count({"Default_AllReduce-op2"}, FactKind::kExchange) == 2);
  CHECK(count({"Default_AllReduce-op2"}, FactKind::kRankPair) == 0);
  CHECK(count({"fc.weight"}, FactKind::kExchange) == 0);
  CHECK(count({"fc.weight"}, FactKind::kRankPair) == 1);
  CHECK(count({"fc.bias"}, FactKind::kRankPair) == 0);
}

TEST_CASE("A verdict is taken from the store, but for one about a tensor that the exchange does not have") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) add_all_reduce(scratch, rank, 0);
  for (const int64_t rank : {0, 1}) add_all_reduce(scratch, rank, 1);
  Shared shared(scratch, only("collective_mismatch"));
  const uint32_t output = shared.output_of("Default_AllReduce-op2");
  CHECK(shared.judged_with(verdict_text(output)) == std::vector<std::string>{"over ranks 0-1: as the store says"});
  CHECK(shared.judged_with(verdict_text(1'000'000)).empty());
  CHECK(shared.judged_with("x").empty());
}

}  // namespace msdump::check
