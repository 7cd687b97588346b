#include "compare/dumps/unpaired_tensors.h"

#include <fmt/format.h>

#include "support/catch.h"
#include "support/compare_run.h"
#include "support/made_calls.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

// "reference line 12: OP OP, 1 shared"
Texts lines_of(const test::ComparedDumps& compared) {
  const OperatorLines a = compared.a().graph == nullptr ? OperatorLines() : OperatorLines(*compared.a().graph);
  const OperatorLines b = compared.b().graph == nullptr ? OperatorLines() : OperatorLines(*compared.b().graph);
  Texts texts;
  for (const OneSidedLine& line : one_sided_lines(compared.pairing(), a, b)) {
    std::string names;
    for (const OperatorId op : line.operators) names.append(" ").append(compared.pairing().op_name(op));
    texts.push_back(fmt::format("{} line {}:{}, {} shared", line.of_reference ? "reference" : "candidate",
                                line.frame->line, names, line.shared));
  }
  return texts;
}

}  // namespace

TEST_CASE("calls of one side alone are grouped by their line") {
  const CallTrial trial([](MadeCalls& calls) {
    calls.ran("Functional.linear.0.forward", {{1, 2}}, {{3, 4}});
    if (!calls.bad()) {
      calls.ran("Distributed.all_reduce.0.forward", {{3, 4}}, {{5, 6}});
      calls.made_at(87);
      calls.ran("Tensor.div_.0.forward", {{5, 6}}, {{7, 8}});
      calls.made_at(88);
      calls.ran("Distributed.all_reduce.1.forward", {{7, 8}}, {{9, 1}});
      calls.made_at(87);
    }
    if (calls.bad()) {
      calls.ran("Tensor.exp.0.forward", {{3, 4}}, {{5, 6}});
      calls.made_at(40);
    }
    calls.ran("Functional.relu.0.forward", {{9, 1}}, {{9, 1}});
    calls.made_at(88);
  });
  CHECK(lines_of(trial.compared()) ==
        Texts{"candidate line 40: Tensor.exp.0.forward, 0 shared",
              "reference line 87: Distributed.all_reduce.0.forward Distributed.all_reduce.1.forward, 0 shared",
              "reference line 88: Tensor.div_.0.forward, 1 shared"});
}

TEST_CASE("calls of a step that the other side lacks are not calls of one side alone") {
  const test::ScratchDir scratch;
  const auto write = [&](const char* dump, const std::string& step, bool additional) {
    MadeCalls calls(true);
    calls.ran("Functional.linear.0.forward", {{1, 2}}, {{3, 4}});
    if (additional) calls.ran("Functional.relu.0.forward", {{3, 4}}, {{3, 4}});
    calls.made_at(87);
    calls.write(scratch.path() / dump, step + "/rank0");
  };
  write("candidate", "step0", false);
  write("reference", "step0", true);
  write("candidate", "step1", true);
  write("reference", "step2", true);
  const test::ComparedDumps compared(scratch.path() / "candidate", scratch.path() / "reference");
  REQUIRE(compared.pairing().steps_alone.a == std::vector<int64_t>{1});
  REQUIRE(compared.pairing().steps_alone.b == std::vector<int64_t>{2});
  CHECK(lines_of(compared) == Texts{"reference line 87: Functional.relu.0.forward, 0 shared"});
}

TEST_CASE("operators that both sides have, or that only one framework can have, are left out") {
  const CallTrial same([](MadeCalls& calls) { calls.ran("Torch.exp.0.forward", {{3, 4}}, {{5, 6}}); });
  CHECK(lines_of(same.compared()).empty());
  const CallTrial frameworks([](MadeCalls& calls) {
    calls.ran(calls.bad() ? "Mint.abs.0.forward" : "Torch.exp.0.forward", {{3, 4}}, {{5, 6}});
  });
  CHECK(lines_of(frameworks.compared()).empty());
}

}  // namespace msdump
