// A check that several processes share: what stays together, and what the rules find out without judging.
#include "check/check_share.h"

#include <algorithm>
#include <map>
#include <set>

#include "parts/part_file.h"
#include "small_dump.h"

namespace msdump::check {
namespace {

class Shared {
 public:
  explicit Shared(const test::ScratchDir& scratch, const RuleSet& rules = RuleSet::defaults())
      : dump_(test::list_dump({scratch.path()}, Headers::kWhereNeeded)),
        run_({&dump_.index, &dump_.tensors()}, rules) {}

  [[nodiscard]] CheckRun& run() { return run_; }
  [[nodiscard]] const TensorRecord& record(uint32_t tensor) const { return dump_.tensors()[tensor]; }

  // Tensors of one unit, as "NAME rank R step S".
  [[nodiscard]] std::vector<std::set<std::string>> units() const {
    const CheckUnits units = check_units(run_);
    std::vector<std::set<std::string>> named(units.bytes.size());
    for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor) {
      if (units.of[tensor] == kNone) continue;
      const Identity identity = run_.dump.identity(tensor);
      named[units.of[tensor]].insert(fmt::format("{} rank {} step {}", identity.name.op_name,
                                                 identity.rank.value_or(-1), identity.step.value_or(-1)));
    }
    return named;
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

void write(const test::ScratchDir& scratch, std::string_view op, int64_t rank, int64_t step,
           const std::vector<float>& elements = {1, 2}) {
  scratch.write(tensor_path(op, 1, "output.0", step, rank), floats(elements));
}

using Units = std::vector<std::set<std::string>>;

}  // namespace

TEST_CASE("The steps of an operator stay together on each rank, and the ranks of one that exchanges values, too") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) {
    for (const int64_t step : {0, 1}) {
      write(scratch, "Default/Mul-op1", rank, step);
      write(scratch, "Default/AllReduce-op2", rank, step);
    }
  }
  Units units = Shared(scratch).units();
  std::sort(units.begin(), units.end());
  CHECK(units == Units{{"Default_AllReduce-op2 rank 0 step 0", "Default_AllReduce-op2 rank 0 step 1",
                        "Default_AllReduce-op2 rank 1 step 0", "Default_AllReduce-op2 rank 1 step 1"},
                       {"Default_Mul-op1 rank 0 step 0", "Default_Mul-op1 rank 0 step 1"},
                       {"Default_Mul-op1 rank 1 step 0", "Default_Mul-op1 rank 1 step 1"}});
}

TEST_CASE("A unit has the bytes of its tensors, and what is not read is in none") {
  const test::ScratchDir scratch;
  write(scratch, "Default/Mul-op3", 0, 0, {1, 2, 3});
  write(scratch, "Default/Mul-op3", 0, 1, {1, 2, 3});
  write(scratch, "Default/Mul-op4", 0, 0);
  Shared shared(scratch);
  CheckUnits units = check_units(shared.run());
  REQUIRE(units.bytes.size() == 2);
  const auto [small, large] = std::minmax(units.bytes[0], units.bytes[1]);
  CHECK(large == 2 * (small + 4));  // two steps, three elements for two
  std::vector<bool> wanted;
  for (uint32_t tensor = 0; tensor < units.of.size(); ++tensor)
    wanted.push_back(shared.record(tensor).name.op_name == "Default_Mul-op4");
  shared.run().facts.limit_to(wanted);
  units = check_units(shared.run());
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

}  // namespace msdump::check
