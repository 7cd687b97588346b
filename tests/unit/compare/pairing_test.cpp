#include "compare/match/pairing.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/made_calls.h"

namespace msdump {
namespace {

// Operators in their order: "Default/Mul-op0 = Default/Mul-op1", "-" where a side has none.
Texts operators(const Pairing& pairing) {
  Texts texts;
  for (const OpPair& pair : pairing.operators) {
    texts.push_back(fmt::format("{} = {}", pair.b == kNoId ? "-" : std::string(pairing.b[pair.b].name),
                                pair.a == kNoId ? "-" : std::string(pairing.a[pair.a].name)));
  }
  return texts;
}

bool all_by(const Pairing& pairing, PairedBy how) {
  return std::all_of(pairing.operators.begin(), pairing.operators.end(),
                     [&](const OpPair& pair) { return pair.how == how; });
}

// Two products in a chain; the candidate has another one beside it, which comes first.
void shifted(MadeNet& net) {
  const auto x = net.input("x");
  if (net.bad()) net.op("Neg", {net.op("Mul", {x, net.weight("v")})});
  auto y = net.op("Exp", {x});
  y = net.op("Mul", {y, net.constant(2)});
  y = net.op("Sub", {y, net.weight("w")});
  y = net.op("Mul", {y, net.constant(3)});
  net.op("ReLU", {y});
}

NameMap map_of(std::string_view text) {
  auto content = parse_name_map(text, {});
  REQUIRE(content);
  return NameMap(std::move(*content));
}

}  // namespace

TEST_CASE("each way of pairing has its words") {
  CHECK(explanation(PairedBy::kName) == "by name");
  CHECK(explanation(PairedBy::kNeighbours) == "by its neighbours in the graph");
  CHECK(explanation(PairedBy::kSequence) == "by its place in the sequence");
  CHECK(explanation(PairedBy::kLeftName) == "by name alone");
  CHECK(explanation(PairedBy::kUser) == "by --map");
  CHECK(explanation(PairedBy::kReplaced) == "by its place, as another operator");
  CHECK(explanation(PairedBy::kNothing) == "no partner");
}

TEST_CASE("the same names throughout are paired by name") {
  const Trial trial([](MadeNet& net) { net.op("ReLU", {net.op("Mul", {net.input("x"), net.constant(2)})}); });
  const Pairing& pairing = trial.compared().pairing();
  CHECK(operators(pairing) == Texts{"Default/Mul-op0 = Default/Mul-op0", "Default/ReLU-op0 = Default/ReLU-op0"});
  CHECK(all_by(pairing, PairedBy::kName));
  CHECK(pairing.operators[0].confidence == 1);
  CHECK(pairing.tensors.size() == 5);
}

TEST_CASE("an operator more renumbers others: they are paired by their neighbours, not by equal names") {
  const Trial trial(shifted);
  CHECK(operators(trial.compared().pairing()) ==
        Texts{"- = Default/Mul-op0", "- = Default/Neg-op0", "Default/Exp-op0 = Default/Exp-op0",
              "Default/Mul-op0 = Default/Mul-op1", "Default/Sub-op0 = Default/Sub-op0",
              "Default/Mul-op1 = Default/Mul-op2", "Default/ReLU-op0 = Default/ReLU-op0"});
  const OpPair& pair = trial.compared().pair_of("Default/ReLU-op0");
  CHECK(pair.how == PairedBy::kNeighbours);
  CHECK(pair.confidence == Approx(0.9));
}

TEST_CASE("the same names in another order are paired by the graph") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto branch = [&](const char* weight) { return net.op("Mul", {net.op("Exp", {x}), net.weight(weight)}); };
    if (net.bad()) {
      const auto second = branch("w2"), first = branch("w1");
      net.op("Sub", {first, second});
    } else {
      const auto first = branch("w1"), second = branch("w2");
      net.op("Sub", {first, second});
    }
  });
  CHECK(operators(trial.compared().pairing()) ==
        Texts{"Default/Exp-op0 = Default/Exp-op1", "Default/Mul-op0 = Default/Mul-op1",
              "Default/Exp-op1 = Default/Exp-op0", "Default/Mul-op1 = Default/Mul-op0",
              "Default/Sub-op0 = Default/Sub-op0"});
  CHECK(trial.compared().pair_of("Default/Mul-op0").how == PairedBy::kNeighbours);
  CHECK(trial.compared().pair_of("Default/Sub-op0").how == PairedBy::kName);
}

TEST_CASE("exchanged weights do not outweigh names") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x"), gate = net.weight("gate"), up = net.weight("up");
    const auto gated = net.op("Sigmoid", {net.op("MatMul", {x, net.bad() ? up : gate})});
    const auto y = net.op("Mul", {gated, net.op("MatMul", {x, net.bad() ? gate : up})});
    net.op("ReLU", {y});
  });
  CHECK(all_by(trial.compared().pairing(), PairedBy::kName));
}

TEST_CASE("in graphs of different sizes, branches in another order are paired all the same") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto branch = [&](const std::string& name) {
      auto y = net.op("Mul", {x, net.weight(name + ".weight")});
      if (net.bad() && name == "b") y = net.op("Neg", {y});
      return net.op("Add", {net.op("Tanh", {y}), net.weight(name + ".bias")});
    };
    std::vector<std::string> names = {"a", "b", "c"};
    if (net.bad()) std::reverse(names.begin(), names.end());
    for (const std::string& name : names) branch(name);
  });
  const test::ComparedDumps& compared = trial.compared();
  for (const char* const type : {"Mul", "Tanh", "Add"}) {
    for (const auto& [reference, candidate] : {std::pair("0", "2"), std::pair("1", "1"), std::pair("2", "0")})
      CHECK(compared.partner_of(fmt::format("Default/{}-op{}", type, reference)) ==
            fmt::format("Default/{}-op{}", type, candidate));
  }
}

TEST_CASE("an operator in the place of another is its partner, and so is its gradient") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Exp", {x});
    const auto pooled = net.op(net.bad() ? "AvgPool" : "MaxPool", {y});
    const auto z = net.op("Mul", {pooled, net.weight("w")});
    const auto dz = net.op("Sub", {z, pooled});
    net.op("ExpGrad", {net.op(net.bad() ? "AvgPoolGrad" : "MaxPoolGrad", {y, pooled, dz}), y});
  });
  CHECK(trial.compared().partner_of("Default/MaxPool-op0") == "Default/AvgPool-op0");
  CHECK(trial.compared().partner_of("Default/MaxPoolGrad-op0") == "Default/AvgPoolGrad-op0");
  CHECK(trial.compared().pair_of("Default/MaxPool-op0").how == PairedBy::kReplaced);
  CHECK(trial.compared().pair_of("Default/MaxPool-op0").confidence == Approx(0.8));
  CHECK(trial.compared().count(Verdict::kUnmatched) == 0);
}

TEST_CASE("operators in other places, or two for one, do not replace each other") {
  const Trial elsewhere([](MadeNet& net) {
    const auto x = net.input("x");
    auto y = net.op("Exp", {x});
    if (net.bad()) y = net.op("Tanh", {y});
    y = net.op("Neg", {net.op("Log", {y})});
    if (!net.bad()) y = net.op("Sigmoid", {y});
    net.op("Sub", {y, x});
  });
  CHECK(elsewhere.compared().partner_of("Default/Sigmoid-op0").empty());
  const Trial two([](MadeNet& net) {
    const auto x = net.op("Exp", {net.input("x")});
    if (net.bad()) {
      net.op("Sub", {net.op("Tanh", {x}), net.op("Neg", {x})});
    } else {
      const auto y = net.op("Sigmoid", {x});
      net.op("Sub", {y, y});
    }
  });
  CHECK(two.compared().partner_of("Default/Sigmoid-op0").empty());
}

TEST_CASE("where an operator stands is less than what it reads and who reads it") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Exp", {x});
    const auto added = net.bad() ? net.op("Mul", {x, net.weight("v")}) : x;  // stands where the other one did
    net.op("ReLU", {net.op("Mul", {y, net.constant(2)})});
    if (net.bad()) net.op("Neg", {added});
  });
  CHECK(trial.compared().partner_of("Default/Mul-op0") == "Default/Mul-op1");
  CHECK(trial.compared().pair_of("Default/Mul-op0").how == PairedBy::kNeighbours);
}

TEST_CASE("without an IR they are paired by their place in the sequence") {
  const Trial trial(shifted, {.ir = false});
  const auto& compared = trial.compared();
  CHECK(compared.partner_of("Default_Sub-op0") == "Default_Sub-op0");
  CHECK(compared.partner_of("Default_Mul-op1") == "Default_Mul-op2");
  CHECK(compared.pair_of("Default_Mul-op1").how == PairedBy::kSequence);
  CHECK(compared.pair_of("Default_Mul-op1").confidence == Approx(0.7));
}

TEST_CASE("the shapes of outputs tell operators of one name apart, whatever inputs were dumped") {
  const Trial trial(
      [](MadeNet& net) {
        const auto x = net.input("x"), two = net.constant(2);
        const auto column = net.bad() ? x : net.op("Mul", {x, two});
        const auto square = net.op("Mul", {column, two});
        net.shape_output(square, {4, 4});
        if (net.bad()) net.hide_input(square, 0);
        if (net.bad()) net.start_at(100);
      },
      {.ir = false});
  CHECK(operators(trial.compared().pairing()) == Texts{"Default_Mul-op0 = -", "Default_Mul-op1 = Default_Mul-op0"});
}

TEST_CASE("an operator that moved past others is paired by what is left of its name") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    if (net.bad()) net.op("Tanh", {x}, "Default/far");
    auto y = net.bad() ? net.op("Log", {x}) : x;
    for (const char* const type : {"Exp", "Neg", "Sub", "Mul"}) y = net.op(type, {y, x});
    if (!net.bad()) net.op("Tanh", {y}, "Default/far");
  });
  const OpPair& pair = trial.compared().pair_of("Default/far/Tanh-op0");
  CHECK(pair.how == PairedBy::kLeftName);
  CHECK(pair.confidence == Approx(0.5));
}

TEST_CASE("operators of other scopes are paired by their types and neighbours") {
  const Trial trial([](MadeNet& net) {
    const std::string scope = net.bad() ? "Default/network-Old" : "Default/network-New";
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)}, scope);
    net.op("ReLU", {y}, scope);
  });
  CHECK(operators(trial.compared().pairing()) == Texts{"Default/network-New/Mul-op0 = Default/network-Old/Mul-op0",
                                                       "Default/network-New/ReLU-op0 = Default/network-Old/ReLU-op0"});
  CHECK(trial.compared().count(Verdict::kUnmatched) == 0);
}

TEST_CASE("the user's word comes first, also that an operator has no partner") {
  const NameMap map = map_of("Default/Mul-op0,Default/Mul-op1\nDefault/Mul-op1,N/A\n");
  const Trial trial(
      [](MadeNet& net) {
        const auto x = net.input("x");
        net.op("Mul", {x, net.constant(2)});
        net.op("Mul", {x, net.constant(3)});
      },
      {.map = &map});
  CHECK(trial.compared().partner_of("Default/Mul-op1") == "Default/Mul-op0");
  CHECK(trial.compared().pair_of("Default/Mul-op1").how == PairedBy::kUser);
  CHECK(trial.compared().partner_of("Default/Mul-op0").empty());
}

TEST_CASE("a side with one step and one rank is compared with the other side's only ones") {
  const test::ScratchDir scratch;
  for (const bool bad : {false, true}) {
    MadeNet net({bad, bad ? 3 : 0, bad ? 7 : 2}, false);
    net.op("Mul", {net.input("x"), net.constant(2)});
    net.write(scratch.path() / (bad ? "bad" : "ref"), false);
  }
  const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
  CHECK(compared.count(Verdict::kSame) == 3);
  CHECK(compared.count(Verdict::kUnmatched) == 0);
}

TEST_CASE("among several steps a step is compared with the one of its number") {
  const test::ScratchDir scratch;
  for (const bool bad : {false, true}) {
    for (const int step : {1, bad ? 3 : 2}) {
      MadeNet net({bad, 0, step}, false);
      net.op("Mul", {net.input("x"), net.constant(2)});
      net.write(scratch.path() / (bad ? "bad" : "ref"), false);
    }
  }
  const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
  CHECK(compared.count(Verdict::kSame) == 3);
  CHECK(compared.count(Verdict::kUnmatched) == 6);
}

TEST_CASE("of several steps, those that both sides have are paired, also where a call is missing") {
  const test::ScratchDir scratch;
  const auto write = [&](bool bad, int step) {
    MadeCalls calls(bad);
    for (int i = 0; i < 4; ++i) {
      for (const char* const type : {"relu", "softmax", "dropout"}) {
        if (bad && i == 1 && type == std::string_view("dropout")) continue;
        const int number = bad && i > 1 && type == std::string_view("dropout") ? i - 1 : i;
        const auto value = static_cast<float>(10 * step + i + 1);
        calls.ran(fmt::format("Functional.{}.{}.forward", type, number), {{value, 2}}, {{value, 3}});
      }
    }
    const std::filesystem::path side = scratch.path() / (bad ? "bad" : "ref"), made = scratch.path() / "made";
    calls.write(made);
    std::filesystem::create_directories(side);
    std::filesystem::rename(made / "step0", side / fmt::format("step{}", step));
  };
  write(true, 0);
  write(false, 0);
  write(false, 1);
  const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
  CHECK(compared.count(Verdict::kSame) == 22);
  CHECK(compared.count(Verdict::kUnmatched) == 26);
  CHECK(compared.pairing().steps_alone.a.empty());
  CHECK(compared.pairing().steps_alone.b == std::vector<int64_t>{1});
  write(true, 1);
  const test::ComparedDumps both(scratch.path() / "bad", scratch.path() / "ref");
  CHECK(both.count(Verdict::kSame) == 44);
  CHECK(both.count(Verdict::kUnmatched) == 4);
  CHECK(both.pairing().steps_alone.b.empty());
}

namespace {

// Modules "a" and "b" below `path` of the candidate.
void modules_below(MadeCalls& calls, const std::string& path) {
  for (const char* const name : {"a", "b"}) {
    calls.ran(fmt::format("Module.{}{}.Linear.forward.0", calls.bad() ? path : "", name), {{1, 2}}, {{3, 4}});
    calls.ran(fmt::format("Functional.linear.{}.forward", name[0] - 'a'), {{1, 2}}, {{3, 4}});
  }
}

}  // namespace

TEST_CASE("a wrapper of all modules on one side does not count, and names stay as they are") {
  const CallTrial trial([](MadeCalls& calls) { modules_below(calls, "module."); });
  CHECK(all_by(trial.compared().pairing(), PairedBy::kName));
  CHECK(trial.compared().partner_of("Module.b.Linear.forward.0") == "Module.module.b.Linear.forward.0");
}

namespace {

// Each expert computes its rows; the candidate may send them in another order, or other numbers of them.
void experts(MadeCalls& calls, const std::vector<std::pair<int, size_t>>& expert_and_rows) {
  int number = 0;
  for (const auto& [expert, rows] : expert_and_rows) {
    const Values x(rows, static_cast<float>(expert + 2)), y(rows, static_cast<float>(expert + 5));
    const std::string module = fmt::format("Module.experts.{}.Linear.forward.0", expert);
    calls.ran(fmt::format("Functional.linear.{}.forward", number++), {x}, {y}, module);
    calls.ran(module, {x}, {y});
  }
}

}  // namespace

TEST_CASE("calls of msprobe have the partners of their modules, whatever their numbers are") {
  const CallTrial trial([](MadeCalls& calls) {
    experts(calls, calls.bad() ? std::vector<std::pair<int, size_t>>{{1, 2}, {0, 2}}
                               : std::vector<std::pair<int, size_t>>{{0, 2}, {1, 2}});
  });
  CHECK(trial.compared().partner_of("Functional.linear.0.forward") == "Functional.linear.1.forward");
  CHECK(trial.compared().partner_of("Module.experts.1.Linear.forward.0") == "Module.experts.1.Linear.forward.0");
  CHECK(trial.compared().count(Verdict::kSame) == 8);
}

TEST_CASE("experts that get other numbers of rows keep their partners, also where a call is missing") {
  const CallTrial trial([](MadeCalls& calls) {
    if (!calls.bad()) calls.ran("Functional.relu.0.forward", {{1, 2}}, {{3, 4}});
    experts(calls, calls.bad() ? std::vector<std::pair<int, size_t>>{{0, 3}, {1, 2}, {2, 4}}
                               : std::vector<std::pair<int, size_t>>{{0, 2}, {1, 3}, {2, 4}});
  });
  for (const int expert : {0, 1, 2}) {
    const std::string module = fmt::format("Module.experts.{}.Linear.forward.0", expert),
                      call = fmt::format("Functional.linear.{}.forward", expert);
    CHECK(trial.compared().partner_of(module) == module);
    CHECK(trial.compared().partner_of(call) == call);
  }
}

TEST_CASE("without modules, calls of a name with other shapes are paired in their order") {
  const CallTrial trial([](MadeCalls& calls) {
    if (!calls.bad()) calls.ran("Functional.relu.0.forward", {{1, 2}}, {{3, 4}});
    for (int i = 0; i < 3; ++i) {
      const Values x(static_cast<size_t>(calls.bad() ? std::array{3, 2, 5}[static_cast<size_t>(i)] : i + 2), 2.0F);
      calls.ran(fmt::format("Functional.linear.{}.forward", i), {x}, {x});
    }
  });
  CHECK(trial.compared().partner_of("Functional.linear.1.forward") == "Functional.linear.1.forward");
}

namespace {

// A call of relu for each line of code.
void lines_of_relu(MadeCalls& calls, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const float x = static_cast<float>(name_hash(lines[i].substr(0, 1)) % 100);
    calls.ran(fmt::format("Functional.relu.{}.forward", i), {{x, 2}}, {{x, 3}});
    calls.made_by(lines[i]);
  }
}

// The candidate's line whose call is compared with that of a line of the reference; empty if there is none.
std::string partner_of_line(size_t line, const std::vector<std::string>& candidate,
                            const std::vector<std::string>& reference) {
  const CallTrial trial([&](MadeCalls& calls) { lines_of_relu(calls, calls.bad() ? candidate : reference); });
  const std::string name = trial.compared().partner_of(fmt::format("Functional.relu.{}.forward", line));
  return name.empty() ? name : candidate[static_cast<size_t>(name[std::string_view("Functional.relu.").size()] - '0')];
}

const std::vector<std::string> kLines = {"a = f(x)", "b = f(y)", "c = f(z)"};

}  // namespace

TEST_CASE("calls have the partners of their lines, whatever their numbers are") {
  const std::vector<std::string> exchanged = {"b = f(y)", "a = f( x )  # moved", "c = f(z)"};
  CHECK(partner_of_line(0, exchanged, kLines) == exchanged[1]);
  CHECK(partner_of_line(1, exchanged, kLines) == exchanged[0]);
  CHECK(partner_of_line(2, {"a = f(x)", "c = f(z)"}, kLines) == "c = f(z)");
  CHECK(partner_of_line(1, {"a = f(x)", "c = f(z)"}, kLines).empty());
  CHECK(partner_of_line(0, {"new = f(x)", "a = f(x)", "b = f(y)", "c = f(z)"}, kLines) == "a = f(x)");
}

TEST_CASE("a line that was changed keeps its place among the calls of its name") {
  CHECK(partner_of_line(1, {"a = f(x)", "b = f(2 * y)", "c = f(z)"}, kLines) == "b = f(2 * y)");
  CHECK(partner_of_line(2, {"a = f(x)", "b = f(y)", "b = f(y)"}, kLines) == "b = f(y)");
}

TEST_CASE("a backward call has the partner of its forward call") {
  // One product in place of two.
  const CallTrial trial([](MadeCalls& calls) {
    const int count = calls.bad() ? 1 : 2;
    for (int i = 0; i < count; ++i) calls.ran(fmt::format("Functional.linear.{}.forward", i), {{1, 2}}, {{3, 4}});
    calls.ran("Torch.sum.0.forward", {{3, 4}}, {{7}});
    for (int i = count; i-- > 0;) calls.ran(fmt::format("Functional.linear.{}.backward", i), {{1, 1}}, {{5, 6}});
    if (!calls.bad()) calls.ran("Torch.norm.0.forward", {{5, 6}}, {{8}});
  });
  CHECK(trial.compared().partner_of("Functional.linear.0.forward") == "Functional.linear.0.forward");
  CHECK(trial.compared().partner_of("Functional.linear.0.backward") == "Functional.linear.0.backward");
  CHECK(trial.compared().partner_of("Functional.linear.1.backward").empty());
  for (const OpPair& pair : trial.compared().pairing().operators) {
    if (!pair.is_paired()) CHECK(pair.how == PairedBy::kNothing);
  }
}

TEST_CASE("a call that counts is no partner of one that computes, and neither are their backward calls") {
  const auto partners = [](bool counts) {
    const CallTrial trial([=](MadeCalls& calls) {
      if (!calls.bad()) calls.ran("Functional.relu.0.forward", {{1, 2}}, {{3, 4}});
      const bool whole = calls.bad() && counts;
      calls.ran("Tensor.add.0.forward", {{5, 6}}, whole ? std::vector<Values>{} : std::vector<Values>{{7, 8}});
      if (whole) calls.chose({7, 8});
      calls.ran("Tensor.add.0.backward", {{1, 1}}, {{2, 2}});
    });
    return Texts{trial.compared().partner_of("Tensor.add.0.forward"),
                 trial.compared().partner_of("Tensor.add.0.backward")};
  };
  CHECK(partners(false) == Texts{"Tensor.add.0.forward", "Tensor.add.0.backward"});
  CHECK(partners(true) == Texts{"", ""});
}

TEST_CASE("path rules rename the candidate before it is paired") {
  const auto how = [](const NameMap* map) {
    const test::ScratchDir scratch;
    for (const bool bad : {false, true}) {
      MadeCalls calls(bad);
      modules_below(calls, "inner.");
      calls.write(scratch.path() / (bad ? "bad" : "ref"));
    }
    const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref", map);
    CHECK((map == nullptr || compared.partner_of("Module.a.Linear.forward.0") == "Module.inner.a.Linear.forward.0"));
    return compared.pair_of("Functional.linear.0.forward").how;
  };
  const NameMap rules = map_of("inner=\n"), cells = map_of("inner.a.Linear: a.Linear\ninner.b.Linear: b.Linear\n");
  CHECK(how(&rules) == PairedBy::kName);
  CHECK(how(&cells) == PairedBy::kSequence);
  CHECK(how(nullptr) == PairedBy::kSequence);
}

TEST_CASE("the shapes of their tensors distinguish two networks") {
  const auto likeness = [](size_t operators, size_t alike, bool other_name) {
    const Trial trial([&](MadeNet& net) {
      auto y = net.input("x");
      for (size_t i = 0; i < operators; ++i) {
        y = net.op("Mul", {y, y}, net.bad() && other_name ? "Default/other" : "Default/one");
        if (!net.bad() || i < alike) continue;
        net.shape_output(y, {4, 4});
        for (const size_t input : {0U, 1U}) net.shape_input(y, input, {4, 4});
      }
    });
    return trial.compared().pairing().likeness;
  };
  const Likeness few = likeness(20, 5, true);
  CHECK(few.alike == 5);
  CHECK(few.comparable == 20);
  CHECK(few.two_networks());
  CHECK_FALSE(likeness(20, 6, true).two_networks());
  CHECK_FALSE(likeness(20, 5, false).two_networks());
  CHECK_FALSE(likeness(9, 0, true).two_networks());
}

TEST_CASE("the only step or rank of one side is compared with the one of its number where the other side has several") {
  const auto verdicts = [](const std::vector<MadePlace>& of_bad, const std::vector<MadePlace>& of_ref) {
    const test::ScratchDir scratch;
    for (const auto* const places : {&of_bad, &of_ref}) {
      for (const MadePlace& place : *places) {
        MadeNet net(place, false);
        net.op("Neg", {net.input("x", some_values(static_cast<float>(1 + place.step + place.rank)))});
        net.write(scratch.path() / (place.bad ? "bad" : "ref"), false);
      }
    }
    const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
    return std::pair(compared.count(Verdict::kSame), compared.count(Verdict::kUnmatched));
  };
  const std::pair<size_t, size_t> own_partner(2, 2);
  CHECK(verdicts({{true, 0, 2}}, {{false, 0, 1}, {false, 0, 2}}) == own_partner);
  CHECK(verdicts({{true, 0, 1}, {true, 0, 2}}, {{false, 0, 2}}) == own_partner);
  CHECK(verdicts({{true, 2, 0}}, {{false, 1, 0}, {false, 2, 0}}) == own_partner);
  CHECK(verdicts({{true, 1, 0}, {true, 2, 0}}, {{false, 2, 0}}) == own_partner);
}

TEST_CASE("operands that changed places are paired by their shapes, of operators that allow it alone") {
  const auto verdicts = [](const std::string& type) {
    const Trial trial([&](MadeNet& net) {
      const auto x = net.input("x"), two = net.constant(2);
      net.op(type, net.bad() ? std::vector{two, x} : std::vector{x, two});
    });
    const std::string name = "Default/" + type + "-op0";
    return std::pair(trial.compared().verdict(name, "input:0"), trial.compared().verdict(name, "input:1"));
  };
  CHECK(verdicts("Mul") == std::pair(Verdict::kSame, Verdict::kSame));
  CHECK(verdicts("Div").first != Verdict::kSame);
}

TEST_CASE("tensors without a partner are pairs with one side") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
    if (net.bad()) net.hide_input(y, 1);
    if (!net.bad()) net.hide_output(y);
  });
  CHECK(trial.compared().verdict("Default/Mul-op0", "input:0") == Verdict::kSame);
  CHECK(trial.compared().verdict("Default/Mul-op0", "input:1") == Verdict::kUnmatched);
  CHECK(trial.compared().verdict("Default/Mul-op0", "output:0") == Verdict::kUnmatched);
}

TEST_CASE("modules and calls of MindSpore and PyTorch are paired by what both call so") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), y = some_values(2), z = some_values(3);
    calls.ran(calls.bad() ? "Primitive.matmul.MatMul.0.forward" : "Torch.matmul.4.forward", {x}, {y});
    calls.ran(calls.bad() ? "Cell.fc.Dense.forward.0" : "Module.fc.Linear.forward.0", {x}, {y});
    calls.ran("Functional.relu.0.forward", {y}, {z});
  });
  const Pairing& pairing = trial.compared().pairing();
  CHECK(pairing.other_framework);
  CHECK(operators(pairing) == Texts{"Torch.matmul.4.forward = Primitive.matmul.MatMul.0.forward",
                                    "Module.fc.Linear.forward.0 = Cell.fc.Dense.forward.0",
                                    "Functional.relu.0.forward = Functional.relu.0.forward"});
}

TEST_CASE("between frameworks arguments in other slots are paired by their shapes") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), bias = {1, 2, 3};
    if (calls.bad()) {
      calls.ran("Functional.linear.0.forward", {bias, x}, {x});
    } else {
      calls.ran("Functional.linear.0.forward", {x, bias}, {x});
      calls.ran("Module.fc.Linear.forward.0", {x}, {x});
    }
  });
  CHECK(trial.compared().verdict("Functional.linear.0.forward", "input:0") == Verdict::kSame);
  CHECK(trial.compared().verdict("Functional.linear.0.forward", "input:1") == Verdict::kSame);
}

TEST_CASE("two single tensors are a pair, whatever they are called") {
  const test::ScratchDir scratch;
  const auto side = [&](const std::string& name) {
    scratch.write(name, test::npy_of("<f4", {2}, std::string(8, '\0')));
    return test::list_dump({scratch.path() / name});
  };
  const auto left = side("one.npy"), right = side("Add.Default_Add-op0.0.0.17.output.0.npy");
  CompareSide a, b;
  a.index = &left.index;
  a.tensors = &left.tensors();
  b.index = &right.index;
  b.tensors = &right.tensors();
  const Pairing pairing = pair_single(a, b);
  REQUIRE(pairing.tensors.size() == 1);
  CHECK((pairing.tensors[0].a == 0 && pairing.tensors[0].b == 0));
  CHECK(pairing.operators.size() == 1);
}

}  // namespace msdump
