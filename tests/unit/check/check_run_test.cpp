// What a check of a part of a dump reads and reports, and what the search for the first one reports.
#include "check/check.h"

#include "small_dump.h"

namespace msdump::check {
namespace {

// Mul -> Log -> Exp, of which the Log makes NaN; without an IR.
void write_three(const test::ScratchDir& scratch) {
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats({-1, 2}));
  scratch.write(tensor_path("Default/Log-op2", 2, "input.0"), floats({-1, 2}));
  scratch.write(tensor_path("Default/Log-op2", 2, "output.0"), floats({kNan, 1}));
  scratch.write(tensor_path("Default/Exp-op3", 3, "input.0"), floats({kNan, 1}));
  scratch.write(tensor_path("Default/Exp-op3", 3, "output.0"), floats({kNan, 3}));
}

}  // namespace

TEST_CASE("a check of a part of a dump reads nothing else, and reports that part only") {
  const test::ScratchDir scratch;
  write_three(scratch);
  const std::string cut = tensor_path("Default/Exp-op3", 3, "output.0");
  scratch.write(cut, scratch.read(cut).substr(0, 130));
  const test::ListedDump dump = test::list_dump({scratch.path()}, Headers::kWhereNeeded, 2);
  CheckRun run({&dump.index, &dump.tensors(), nullptr, nullptr}, test::rules_for_made_up_values());
  run.choose([](const TensorRecord&, const Identity& identity) { return identity.name.op_name == "Default_Log-op2"; });
  WorkerPool pool(2);
  const CancelToken cancel;
  REQUIRE(check_all(run, {}, {pool, cancel}));
  CHECK(run.facts.count_read() == 2);
  CHECK(run.failed() == 0);
  REQUIRE(run.report.first);
  CHECK(run.op_name(run.report.first->op) == "Default_Log-op2");
  REQUIRE(run.report.findings.size() == 1);
  CHECK(run.report.findings.front().rule == RuleId::kNan);
  CHECK(run.dump.role(run.report.findings.front().tensor) == TensorRole::kOutput);
}

TEST_CASE("the search for the first reports what is found about its run only") {
  const test::ScratchDir scratch;
  write_three(scratch);
  CHECK(Checked(scratch.path()).reported() == Lines{"nan error Default_Log-op2 output 0",
                                                    "nan error Default_Exp-op3 input 0",
                                                    "nan error Default_Exp-op3 output 0"});
  CHECK(Checked(scratch.path(), RuleSet::defaults(), true).reported() == Lines{"nan error Default_Log-op2 output 0"});
}

}  // namespace msdump::check
