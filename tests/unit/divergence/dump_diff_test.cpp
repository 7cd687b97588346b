#include "divergence/dump_diff.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "compare/pair/metric_table.h"
#include "divergence/roots/cut_text.h"
#include "graph/lines/source_lines.h"
#include "parts/part_file.h"
#include "support/catch.h"
#include "support/diffed_dumps.h"
#include "support/made_calls.h"
#include "support/made_net.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;

// "0 1 Default/Mul-op0 input:1 differ, line 12": rank, step, the tensor, the verdict.
Texts rows(const DiffResult& run) {
  Texts lines;
  for (const TensorId row : run.rows) {
    const TensorKey key = run.key(row);
    const SourceFrame* const frame = run.frame(run.pairing.tensors[row].op);
    lines.push_back(fmt::format("{} {} {} {}:{} {}, line {}", key.rank.value_or(-1), key.step.value_or(-1), key.op_name,
                                name_of(key.io), key.slot, name_of(run.diffs[row].verdict),
                                frame == nullptr ? 0 : frame->line));
  }
  return lines;
}

}  // namespace

TEST_CASE("rows go by rank and step, then operator by operator; what one side lacks is among them") {
  const DiffedDumps dumps;
  dumps.write_nets(
      [](MadeNet& net) {
        const auto x = net.input("x");
        auto y = net.op("Exp", {x});
        if (net.bad() && net.rank() == 1 && net.step() == 1) net[y][3] += 1;
        if (!net.bad()) y = net.op("Sign", {y});
        if (net.bad()) net.op("Tanh", {x});
      },
      2, 2);
  const DiffResult run = dumps.diff();
  const auto of = [](const std::string& place, const std::string& exp) {
    return Texts{place + " Default/Exp-op0 input:0 same, line 10",
                 place + " Default/Exp-op0 output:0 " + exp + ", line 10",
                 place + " Default/Tanh-op0 input:0 unmatched, line 11",
                 place + " Default/Tanh-op0 output:0 unmatched, line 11",
                 place + " Default/Sign-op0 input:0 unmatched, line 11",
                 place + " Default/Sign-op0 output:0 unmatched, line 11"};
  };
  Texts expected;
  for (const char* const place : {"0 0", "0 1", "1 0", "1 1"}) {
    for (const std::string& row : of(place, std::string(place) == "1 1" ? "differ" : "same")) expected.push_back(row);
  }
  CHECK(rows(run) == expected);
  CHECK_FALSE(run.single_pair);
  CHECK(run.failures.empty());
}

TEST_CASE("verdicts are of the elements alone; what was never written is explained, and a root may be close") {
  const DiffedDumps dumps;
  dumps.write_nets([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("BatchNorm", {x});
    net.add_output(y, some_values(net.bad() ? 1e6F : 1.0F));
    const auto z = net.op("Mul", {y, net.weight("w")});
    if (net.bad()) {
      for (float& value : net[z]) value *= 1.0004F;
    }
    net.op("ReLU", {z});
  });
  const DiffResult run = dumps.diff();
  CHECK(rows(run) ==
        Texts{"0 0 Default/BatchNorm-op0 input:0 same, line 10", "0 0 Default/BatchNorm-op0 output:0 same, line 10",
              "0 0 Default/BatchNorm-op0 output:1 differ, line 10", "0 0 Default/Mul-op0 input:0 same, line 11",
              "0 0 Default/Mul-op0 input:1 same, line 11", "0 0 Default/Mul-op0 output:0 close, line 11",
              "0 0 Default/ReLU-op0 input:0 close, line 12", "0 0 Default/ReLU-op0 output:0 close, line 12"});
  CHECK(run.explained(run.rows[2]) == "unwritten");
  CHECK_FALSE(counts_as_difference(run, run.rows[2]));
  CHECK(run.explained(run.rows[0]).empty());
  REQUIRE(run.divergence.roots.size() == 1);
  CHECK(run.op_name(run.divergence.roots[0].op) == "Default/Mul-op0");
  CHECK(run.divergence.roots[0].outputs == std::vector{run.rows[5]});
}

TEST_CASE("the first tensor of a dump may be one that was never written") {
  const DiffedDumps dumps;
  dumps.write_nets([](MadeNet& net) {
    const auto y = net.op("BatchNorm", {net.input("x")});
    net.hide_input(y, 0);
    net.hide_output(y);
    net.add_output(y, some_values(net.bad() ? 1e6F : 1.0F));
    net.op("ReLU", {y});
  });
  const DiffResult run = dumps.diff();
  REQUIRE(run.rows.size() > 1);
  CHECK(run.rows[0] == 0);
  CHECK(run.explained(TensorId(0)) == "unwritten");
}

TEST_CASE("a constant that one side has as a file is compared with the one in the other side's graph") {
  const auto row = [](float factor) {
    const DiffedDumps dumps;
    dumps.write_nets([=](MadeNet& net) {
      const auto y = net.op("Mul", {net.input("x"), net.constant(net.bad() ? factor : 2.0F)});
      if (!net.bad()) net.hide_input(y, 1);
    });
    const DiffResult run = dumps.diff();
    return fmt::format("{}; {}", rows(run).at(1), *run.diffs[run.rows[1]].reason);
  };
  CHECK(row(3) ==
        "0 0 Default/Mul-op0 input:1 differ, line 10; input 1 is 3 here, the constant input 1 2 in the reference's "
        "graph");
  CHECK(row(2) == "0 0 Default/Mul-op0 input:1 skipped, line 10; equal to the constant input 1 = 2 of the reference");
}

TEST_CASE("arguments that differ are selected as inputs, by rank and step, and a baseline accepts them") {
  const auto write = [](const DiffedDumps& dumps) {
    for (const bool bad : {false, true}) {
      for (const char* const folder : {"step0/rank0", "step0/rank1", "step1/rank0"}) {
        MadeCalls calls(bad);
        calls.ran("Tensor.mul.0.forward", {{1, 2}}, {{3, 4}});
        calls.given("float", bad ? "2.5" : "2");
        calls.given("out", "bool", bad ? "true" : "false");
        calls.ran("Tensor.add.0.forward", {{1, 2}}, {{3, 4}});
        calls.given("float", bad ? "7" : "8");
        calls.write(dumps.side(bad), folder);
      }
    }
  };
  const auto arguments = [](const DiffResult& run) {
    Texts lines;
    for (const ArgumentDiff& one : run.arguments) {
      lines.push_back(fmt::format("{} {} {} {}", run.key(one).rank.value_or(-1), one.step.value_or(-1),
                                  run.op_name(one.op), one.name));
    }
    return lines;
  };
  const DiffedDumps all;
  write(all);
  const DiffResult run = all.diff();
  CHECK(arguments(run) ==
        Texts{"0 0 Tensor.mul.0.forward 1", "0 0 Tensor.mul.0.forward out", "0 0 Tensor.add.0.forward 1",
              "0 1 Tensor.mul.0.forward 1", "0 1 Tensor.mul.0.forward out", "0 1 Tensor.add.0.forward 1",
              "1 0 Tensor.mul.0.forward 1", "1 0 Tensor.mul.0.forward out", "1 0 Tensor.add.0.forward 1"});
  CHECK(argument_counts(run, 0));
  const DiffedDumps some({.rank = "0", .step = "1", .op = {"*mul*"}, .io = "input", .slot = "1"});
  write(some);
  CHECK(arguments(some.diff()) == Texts{"0 1 Tensor.mul.0.forward 1"});
  const DiffedDumps outputs({.io = "output"});
  write(outputs);
  CHECK(arguments(outputs.diff()).empty());

  DiffRules rules;
  rules.baseline.emplace();
  for (size_t i = 1; i < run.arguments.size(); ++i)
    rules.baseline->add(run.key(run.arguments[i]), difference_of(run.arguments[i], run.pairing));
  const DiffResult accepted = all.diff(std::move(rules));
  CHECK(argument_counts(accepted, 0));
  for (uint32_t i = 1; i < accepted.arguments.size(); ++i) CHECK_FALSE(argument_counts(accepted, i));
}

TEST_CASE("operators whose arguments differ are roots before those with a score, once for each line and difference") {
  const DiffedDumps dumps;
  for (const bool bad : {false, true}) {
    MadeCalls calls(bad);
    const auto given = [&](const char* candidate, const char* reference) {
      calls.given("float", bad ? candidate : reference);
    };
    const auto if_bad = [&](float candidate, float reference) { return bad ? candidate : reference; };
    calls.ran("Tensor.mul.0.forward", {{1, 2}}, {{3, 4}});
    given("2.5", "2");
    calls.ran("Torch.exp.0.forward", {{5, 6}}, {{7, if_bad(90, 8)}});  // a root of its own
    calls.ran("Tensor.add.0.forward", {{9, 10}}, {{11, 12}});
    given("7", "8");
    calls.made_at(50);
    calls.ran("Tensor.mul.1.forward", {{13, 14}}, {{15, 16}});
    given("2.5", "2");                                                      // the same difference again
    calls.ran("Tensor.sub.0.forward", {{17, 18}}, {{19, if_bad(60, 20)}});  // a root without the argument, too
    given("3", "4");
    calls.ran("Tensor.pow.0.forward", {{21, 22}}, {{23, 24}});
    given("5", "6");
    calls.made_at(50);
    calls.ran("Tensor.div.0.forward", {{7, if_bad(90, 8)}}, {{27, if_bad(280, 28)}});  // its input explains it
    given("1", "11");
    calls.write(dumps.side(bad));
  }
  const DiffResult run = dumps.diff();
  Texts roots;
  for (const Divergence& root : run.divergence.roots) {
    roots.push_back(fmt::format("{}: {}; {} arguments, {} outputs, {} downstream", run.op_name(root.op), root.reason,
                                root.arguments.size(), root.outputs.size(), root.downstream));
  }
  CHECK(roots ==
        Texts{"Tensor.mul.0.forward: argument 1 is 2.5 here, 2 in the reference; 1 arguments, 0 outputs, 0 downstream",
              "Tensor.add.0.forward: argument 1 is 7 here, 8 in the reference; 1 arguments, 0 outputs, 0 downstream",
              "Tensor.div.0.forward: argument 1 is 1 here, 11 in the reference; 1 arguments, 1 outputs, 2 "
              "downstream",
              "Tensor.sub.0.forward: argument 1 is 3 here, 4 in the reference; its inputs are equal bit for bit, its "
              "outputs differ; 1 arguments, 1 outputs, 3 downstream",
              "Torch.exp.0.forward: its inputs are equal bit for bit, its outputs differ; 0 arguments, 1 outputs, 4 "
              "downstream"});
}

TEST_CASE("what differs without a known cause after an argument that differs is not a root") {
  const auto roots = [](bool argument_first) {
    const DiffedDumps dumps;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      const auto with_argument = [&] {
        calls.ran("Tensor.mul.0.forward", {{1, 2, 4}}, {{3, 4, 5}});
        calls.given("float", bad ? "2.5" : "2");
      };
      if (argument_first) with_argument();
      calls.ran("Torch.exp.0.forward", {{5, bad ? 60.0F : 6.0F, 9}}, {{7, bad ? 90.0F : 8.0F, 1}});
      if (!argument_first) with_argument();
      calls.ran("Torch.sin.0.forward", {{7, bad ? 90.0F : 8.0F, 1}}, {{6, bad ? 50.0F : 4.0F, 2}});
      calls.write(dumps.side(bad));
    }
    const DiffResult run = dumps.diff();
    Texts names;
    for (const Divergence& root : run.divergence.roots)
      names.push_back(fmt::format("{} {}", name_of(root.kind), run.op_name(root.op)));
    return names;
  };
  CHECK(roots(true) == Texts{"value Tensor.mul.0.forward"});
  CHECK(roots(false) == Texts{"value Tensor.mul.0.forward", "input Torch.exp.0.forward"});  // exact evidence first
}

TEST_CASE("a selection of operators knows the names of both sides and leaves out every other row") {
  const DiffedDumps dumps({.op = {"*Mul-op1"}, .io = "output"});
  dumps.write_nets([](MadeNet& net) {
    const auto x = net.input("x");
    if (net.bad()) net.op("Mul", {net.op("Neg", {x}), x});
    const auto y = net.op("Mul", {net.op("Exp", {x}), x});  // the candidate's Mul-op1, the reference's Mul-op0
    if (!net.bad())
      net.op("Mul", {net.op("Tanh", {net.op("Sign", {y})}), x});  // no partner: what it reads is something else
  });
  CHECK(rows(dumps.diff()) ==
        Texts{"0 0 Default/Mul-op1 output:0 same, line 13", "0 0 Default/Mul-op1 output:0 unmatched, line 14"});
}

TEST_CASE("a root is accepted if the baseline has all that it shows, tensors and arguments") {
  const DiffedDumps dumps;
  for (const bool bad : {false, true}) {
    MadeCalls calls(bad);
    calls.ran("Tensor.mul.0.forward", {{1, 2}}, {{3, bad ? 40.0F : 4.0F}});
    calls.given("float", bad ? "2.5" : "2");
    calls.given("int", bad ? "7" : "8");
    calls.write(dumps.side(bad));
  }
  const DiffResult run = dumps.diff();
  REQUIRE(run.arguments.size() == 2);
  const auto is_accepted_with = [&](size_t arguments, bool output) {
    DiffRules rules;
    rules.baseline.emplace();
    for (size_t i = 0; i < arguments; ++i)
      rules.baseline->add(run.key(run.arguments[i]), difference_of(run.arguments[i], run.pairing));
    for (const TensorId row : run.rows) {
      if (output && is_difference(run.diffs[row].verdict)) rules.baseline->add(run.key(row), run.diffs[row]);
    }
    const DiffResult accepted = dumps.diff(std::move(rules));
    return accepted.divergence.roots.empty();
  };
  CHECK(is_accepted_with(2, true));
  CHECK_FALSE(is_accepted_with(1, true));
  CHECK_FALSE(is_accepted_with(2, false));
  CHECK_FALSE(is_accepted_with(0, true));
  CHECK_FALSE(is_accepted_with(0, false));
}

TEST_CASE("where no operator stands out, the first line of calls of one side alone is named") {
  const auto root = [](bool of_reference, bool agrees_after) {
    const DiffedDumps dumps;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      const auto ran_alone = [&](const std::string& name, int line) {
        if (bad == of_reference) return;
        calls.ran(name, {some_values(5)}, {some_values(7)});
        calls.made_at(line);
      };
      calls.ran("Functional.relu.0.backward", {some_values(3)}, {some_values(4)});
      ran_alone("Tensor.abs.0.forward", 40);
      ran_alone("Tensor.neg.0.forward", 50);
      ran_alone("Tensor.sin.0.forward", 50);
      // It chooses, so that no model judges it.
      const float chosen = bad && !agrees_after ? 12 : 11;
      calls.ran("Torch.topk.0.forward", {some_values(9)}, {some_values(chosen)});
      calls.write(dumps.side(bad));
    }
    const DiffResult run = dumps.diff();
    if (run.divergence.roots.empty()) return std::string();
    const Divergence& found = run.divergence.roots[0];
    return fmt::format("{} {} {}.{} {}: {}", name_of(found.kind), run.op_name(found.op), found.place.rank.value_or(-1),
                       found.place.step.value_or(-1), name_of(found.rule), found.reason);
  };
  CHECK(root(true, false) ==
        "missing Tensor.abs.0.forward 0.0 line: 1 call of this line exists only in the reference; no operator stands "
        "out");
  CHECK(root(false, false) ==
        "value Tensor.abs.0.forward 0.0 line: 1 call of this line exists only in the candidate; no operator stands "
        "out");
  // All that was compared agrees: the line is another way to write the same.
  CHECK(root(true, true).empty());
  CHECK(root(false, true).empty());
}

TEST_CASE("a reason says which values were exchanged: those of two weights, or two operands") {
  const auto reasons = [](const std::function<void(MadeNet&)>& build) {
    const DiffedDumps dumps;
    dumps.write_nets(build);
    return reasons_of_roots(dumps.diff());
  };
  const Values gate = some_values(3), up = some_values(5);
  CHECK(reasons([&](MadeNet& net) {
          const auto x = net.input("x");
          net.op("Mul", {x, net.weight("gate", net.bad() ? up : gate)});
          net.op("Mul", {x, net.weight("up", net.bad() ? gate : up)});
          net.op("Mul", {x, net.weight("down", some_values(net.bad() ? 7.0F : 6.0F))});
        }) == Texts{"Default/Mul-op0: it is exchanged with up: each has the value that the other has in the reference; "
                    "its value differs already where it is first read",
                    "Default/Mul-op1: it is exchanged with gate: each has the value that the other has in the "
                    "reference; its value differs already where it is first read",
                    "Default/Mul-op2: its value differs already where it is first read"});
  CHECK(reasons([&](MadeNet& net) {
          const auto left = net.op("Exp", {net.input("x", gate)}), right = net.op("Exp", {net.input("y", up)});
          net.op("Sub", net.bad() ? std::vector{right, left} : std::vector{left, right});
        }) == Texts{"Default/Sub-op0: its inputs 0 and 1 are exchanged"});
}

TEST_CASE("a gradient that is cut is described by the lines of what is missing, most operators first, four at most") {
  const auto described = [](const std::vector<int>& lines, bool of_candidate) {
    const DiffedDumps dumps;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      for (size_t i = 0; i < lines.size(); ++i) {
        const auto name = fmt::format("Functional.silu.{}.", i);
        calls.ran(name + "forward", {some_values(static_cast<float>(i) + 2)},
                  {some_values(static_cast<float>(i) + 20)});
        calls.made_at(lines[i]);
      }
      for (size_t i = 0; i < lines.size() && bad == of_candidate; ++i) {
        const auto name = fmt::format("Functional.silu.{}.", i);
        calls.ran(name + "backward", {some_values(static_cast<float>(i) + 40)},
                  {some_values(static_cast<float>(i) + 60)});
        calls.made_at(lines[i]);
      }
      calls.write(dumps.side(bad));
    }
    const DiffResult run = dumps.diff();
    GradientCut cut;
    cut.of_candidate = of_candidate;
    for (OperatorId op{0}; op < run.pairing.operators.size(); ++op) {
      const OpPair& pair = run.pairing.operators[op];
      if (!pair.is_paired()) cut.operators.push_back(op);
    }
    REQUIRE(cut.operators.size() == lines.size());
    cut.at = cut.operators.front();
    return text_of_cut(run, cut);
  };
  CHECK(described({12}, false) == "the gradient is cut at net.py:12: 1 gradient operator exists only in the reference");
  CHECK(described({12, 12}, true) ==
        "the reference cuts the gradient at net.py:12: 2 gradient operators exist only in the candidate");
  CHECK(described({12, 13, 13}, false) ==
        "the gradient is cut at net.py:12: 3 gradient operators exist only in the reference (2 of net.py:13, 1 of "
        "net.py:12)");
  CHECK(described({12, 13, 14, 15, 15, 16}, false) ==
        "the gradient is cut at net.py:12: 6 gradient operators exist only in the reference (2 of net.py:15, 1 of "
        "net.py:12, 1 of net.py:13, 2 of 2 further lines)");
}

TEST_CASE("a baseline accepts the differences that it lists, and those that are gone are reported") {
  const DiffedDumps dumps;
  dumps.write_nets([](MadeNet& net) {
    const auto y = net.op("Exp", {net.input("x")});
    if (net.bad()) net[y][3] += 1;
    net.op("ReLU", {y});
  });
  const DiffResult before = dumps.diff();
  REQUIRE(before.rows.size() == 4);
  DiffRules rules;
  rules.baseline.emplace();
  rules.baseline->add(before.key(before.rows[1]), before.diffs[before.rows[1]]);
  rules.baseline->add({.rank = 0, .graph = 0, .step = 7, .op_name = "Default/Gone-op0", .io = Io::kInput, .slot = "2"},
                      before.diffs[before.rows[1]]);
  const DiffResult run = dumps.diff(std::move(rules));
  Texts counted;
  for (const TensorId row : run.rows) {
    if (counts_as_difference(run, row))
      counted.push_back(run.key(row).op_name + ":" + std::string(name_of(run.key(row).io)));
  }
  CHECK(counted == Texts{"Default/ReLU-op0:input", "Default/ReLU-op0:output"});
  CHECK(run.unused_baseline == Texts{"Default/Gone-op0 input:2"});
}

TEST_CASE("a file that cannot be read is one failure, also where both sides have it") {
  const DiffedDumps dumps;
  dumps.write_nets([](MadeNet& net) { net.op("Exp", {net.input("x")}); });
  const auto damage = [&](const char* side, const char* text) {
    for (const auto& file : fs::recursive_directory_iterator(dumps.scratch().path() / side)) {
      if (file.path().string().find(".input.0.") != std::string::npos) test::write_bytes(file.path(), text);
    }
    dumps.scratch().write(std::string(side) + "/rank_0/graphs/ms_output_trace_code_graph_1.ir", "no IR");
  };
  damage("ref", "no array");
  const auto failed = [](const DiffResult& run) {
    Texts sides;
    for (const Error& failure : run.failures) {
      const std::string file = fs::path(failure.path).filename();
      sides.push_back((failure.path.find("/bad/") == std::string::npos ? "ref " : "bad ") +
                      file.substr(0, file.find('.')));
    }
    return sides;
  };
  const Texts of_ref{"ref ms_output_trace_code_graph_1", "ref Exp"};
  CHECK(failed(dumps.diff()) == of_ref);
  CHECK(failed(dumps.diff(dumps.open(dumps.side(false)), dumps.open(dumps.side(false)))) == of_ref);
  damage("bad", "no array either");
  CHECK(failed(dumps.diff()) == Texts{"bad ms_output_trace_code_graph_1", "bad Exp", of_ref[0], of_ref[1]});
}

TEST_CASE("two files with a tensor each are compared whatever their names are") {
  const DiffedDumps dumps;
  const std::string eight(8, '\1');
  const auto one = [&](const std::string& name) {
    return dumps.scratch().write(name, test::npy_of("<f4", {2}, eight));
  };
  const fs::path a = one("a/left.npy"), b = one("b/right.npy");
  const DiffResult run = dumps.diff(dumps.open(a), dumps.open(b));
  CHECK(run.single_pair);
  REQUIRE(run.rows.size() == 1);
  CHECK(run.diffs[run.rows[0]].verdict == Verdict::kSame);
  CHECK(run.frame(run.pairing.tensors[run.rows[0]].op) == nullptr);
  one("b/more.npy");
  CHECK_FALSE(dumps.diff(dumps.open(a), dumps.open(b.parent_path())).single_pair);
  CHECK_FALSE(dumps.diff(dumps.open(b.parent_path()), dumps.open(a)).single_pair);
}

// The dump.json files that go together, by their folders: "step0/rank0 = step0/rank1".
Texts paired_jsons(const Texts& candidate, const Texts& reference) {
  const DiffedDumps dumps;
  const auto make = [&](bool of_candidate, const std::string& folder) {
    MadeCalls calls(false);
    calls.ran("Functional.relu.0.forward", {some_values()}, {some_values(2)});
    calls.write(dumps.scratch().path() / "one");
    const fs::path place = dumps.side(of_candidate) / folder;
    fs::create_directories(place.parent_path());
    fs::rename(dumps.scratch().path() / "one" / "step0" / "rank0", place);
  };
  for (const std::string& folder : candidate) make(true, folder);
  for (const std::string& folder : reference) make(false, folder);
  Texts pairs;
  for (const auto& [a, b] : dump_jsons(*dumps.open(dumps.side(true)), *dumps.open(dumps.side(false)))) {
    const auto folder = [&](const std::string& path, bool of_candidate) {
      return fs::path(path).parent_path().lexically_relative(dumps.side(of_candidate)).string();
    };
    pairs.push_back(folder(a, true) + " = " + folder(b, false));
  }
  return pairs;
}

TEST_CASE("dump.json files go together by step and rank; a single one on each side whatever it is") {
  CHECK(paired_jsons({"step0/rank0", "step0/rank1"}, {"step0/rank0"}) == Texts{"step0/rank0 = step0/rank0"});
  CHECK(paired_jsons({"step0/rank0", "step0/rank1"}, {"step0/rank1"}) == Texts{"step0/rank1 = step0/rank1"});
  CHECK(paired_jsons({"step1/rank0", "step2/rank0"}, {"step2/rank0", "step3/rank0"}) ==
        Texts{"step2/rank0 = step2/rank0"});
  CHECK(paired_jsons({"step4/rank3"}, {"step0/rank0"}) == Texts{"step4/rank3 = step0/rank0"});
  CHECK(paired_jsons({"step4/rank0", "step4/rank1"}, {"step7/rank1", "step7/rank2"}) ==
        Texts{"step4/rank1 = step7/rank1"});
}

TEST_CASE("pairs that are compared apart come together as if compared at once; a row without partner reads nothing") {
  const DiffedDumps dumps;
  dumps.write_nets([](MadeNet& net) {
    const auto x = net.input("x");
    auto y = net.op("Exp", {x});
    if (net.bad()) net[y][3] += 1;
    if (!net.bad()) y = net.op("Sign", {y});
    net.op("Tanh", {y});
  });
  const DiffResult whole = dumps.diff();
  DiffResult first = dumps.pair(), second = dumps.pair();
  REQUIRE(first.rows == whole.rows);
  const std::vector<uint64_t> bytes = bytes_of_rows(first);
  REQUIRE(bytes.size() == first.rows.size());
  KeptFacts facts;
  std::vector<TensorId> even, odd;
  size_t pairs = 0;
  for (size_t i = 0; i < first.rows.size(); ++i) {
    const TensorPair& pair = first.pairing.tensors[first.rows[i]];
    const bool both = pair.is_paired();
    CHECK((bytes[i] > 0) == both);
    pairs += both ? 1 : 0;
    (i % 2 == 0 ? even : odd).push_back(first.rows[i]);
  }
  CHECK(pairs < first.rows.size());
  dumps.compare(first, even, &facts);
  dumps.compare(second, odd, &facts);
  CHECK(facts.facts().size() == pairs);
  for (const auto& [key, outcome] : facts.facts()) {
    const TensorDiff& there = whole.diffs[key.first];
    const TensorDiff& here = (first.diffs[key.first].verdict != Verdict::kSkipped ? first : second).diffs[key.first];
    CHECK(key.kind == FactKind::kPair);
    CHECK(here.verdict == there.verdict);
    CHECK(here.metrics->relative_l2 == there.metrics->relative_l2);
    // What is kept begins as a result does, with all of the diff.
    FactReader reader(outcome);
    bool has_value = false;
    TensorDiff kept;
    reader(has_value, kept);
    CHECK(has_value);
    CHECK(encode_result(Result<TensorDiff>(kept)) == encode_result(Result<TensorDiff>(there)));
  }
}

}  // namespace msdump
