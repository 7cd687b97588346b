// A check that several processes share: its units of work, and the facts that a share keeps.
#include <algorithm>

#include "check/check.h"
#include "parts/part_file.h"
#include "small_dump.h"

namespace msdump::check {
namespace {

void write(const test::ScratchDir& scratch, std::string_view op, int64_t step, const std::vector<float>& elements) {
  scratch.write(tensor_path(op, 1, "output.0", step, 0), floats(elements));
}

class Shared {
 public:
  explicit Shared(const test::ScratchDir& scratch)
      : dump_(test::list_dump({scratch.path()}, Headers::kWhereNeeded)),
        run_({&dump_.index, &dump_.tensors()}, RuleSet::defaults()) {}

  [[nodiscard]] CheckRun& run() { return run_; }
  [[nodiscard]] std::vector<bool> named(std::string_view op) const {
    std::vector<bool> chosen;
    for (const TensorRecord& one : dump_.tensors()) chosen.push_back(one.name.op_name == op);
    return chosen;
  }

 private:
  test::ListedDump dump_;
  CheckRun run_;
};

}  // namespace

TEST_CASE("A unit is a tensor, with its bytes; what is not read is none") {
  const test::ScratchDir scratch;
  write(scratch, "Default/Mul-op3", 0, {1, 2, 3});
  write(scratch, "Default/Mul-op3", 1, {1, 2, 3});
  write(scratch, "Default/Mul-op4", 0, {1, 2});
  Shared shared(scratch);
  CheckUnits units = check_units(shared.run());
  REQUIRE(units.bytes.size() == 3);
  std::sort(units.bytes.begin(), units.bytes.end());
  CHECK(units.bytes[0] + 4 == units.bytes[1]);
  CHECK(units.bytes[1] == units.bytes[2]);
  shared.run().facts.limit_to(shared.named("Default_Mul-op4"));
  units = check_units(shared.run());
  REQUIRE(units.tensors.size() == 1);
  CHECK(shared.run().dump.record(units.tensors.front()).name.op_name == "Default_Mul-op4");
}

TEST_CASE("A share keeps the statistics of its own tensors alone") {
  const test::ScratchDir scratch;
  for (const int64_t step : {0, 1}) write(scratch, "Default/Mul-op3", step, {1, 2});
  write(scratch, "Default/Mul-op4", 0, {1, 2});
  Shared shared(scratch);
  WorkerPool pool(2);
  const CancelToken never;
  KeptFacts facts;
  shared.run().facts.limit_to(shared.named("Default_Mul-op3"));
  REQUIRE(shared.run().facts.read_all({pool, never, nullptr, &facts}));
  CHECK(facts.facts().size() == 2);
  for (const auto& [key, bytes] : facts.facts()) CHECK(key.kind == FactKind::kStatistics);
}

}  // namespace msdump::check
