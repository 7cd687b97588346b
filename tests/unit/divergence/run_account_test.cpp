#include "divergence/run_account.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "compare/limits.h"
#include "divergence/divergence.h"
#include "support/catch.h"
#include "support/made_net.h"

namespace msdump {
namespace {

// The report with an account of every operator.
DivergenceReport with_accounts(const test::ComparedDumps& compared) {
  std::vector<OperatorId> all;
  for (OperatorId op{0}; op < compared.pairing().operators.size(); ++op) all.push_back(op);
  return find_divergences(compared.a(), compared.b(), compared.pairing(), compared.diffs(),
                          ModuleTree::of(*compared.b().index, *compared.a().index), {all});
}

// By operator, without scores.
std::map<std::string, std::string> conclusions(const Trial& trial) {
  std::map<std::string, std::string> found;
  for (const RunAccount& account : with_accounts(trial.compared()).accounts) {
    const std::string& text = account.conclusion;
    found[std::string(trial.compared().pairing().op_name(account.op))] = text.substr(0, text.find("; its score"));
  }
  return found;
}

using Conclusions = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("an account says why a run is not a root: by what it depends on, or by what is known of it") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x"), y = net.input("y");
    net.op("Abs", {net.op("Mul", {x, net.constant(net.bad() ? 3.0F : 2.0F)})});
    net.op("Cos", {net.op("Sin", {net.weight("w", some_values(net.bad() ? 0.6F : 0.5F))})});
    const auto random = net.op("Dropout", {y});
    if (net.bad()) net[random][3] = 0;
    if (!net.bad()) net[random][5] = 0;
    net.op("Neg", {random});
    if (net.bad()) net.op("Tanh", {y});
    if (!net.bad()) net.op("Exp", {y});
    const auto rounded = net.op("Sqrt", {y});
    if (net.bad()) net[rounded][3] *= 1.0000002F;
    net.op("Sign", {y});
    net.hide_output(net.op("Erf", {y}));
    net.hide_input(net.op("Relu6", {y}), 0);
  });
  REQUIRE(trial.roots() == Texts{"value Default/Mul-op0", "parameter w"});
  CHECK(
      conclusions(trial) ==
      Conclusions{{"Default/Mul-op0", "a root: its input 1 is 3, 2 in the reference"},
                  {"Default/Abs-op0", "no root: it depends on the root Default/Mul-op0"},
                  {"Default/Sin-op0", "no root: it depends on the parameter w"},
                  {"Default/Cos-op0", "no root: it depends on the parameter w"},
                  {"Default/Dropout-op0", "not judged: it depends on random numbers that were drawn differently"},
                  {"Default/Neg-op0", "not judged: it depends on random numbers that were drawn differently"},
                  {"Default/Tanh-op0", "no root: only the candidate has it"},
                  {"Default/Exp-op0", "no root: only the reference has it"},
                  {"Default/Sqrt-op0", "no root: its outputs have the error that its inputs and its rounding lead to"},
                  {"Default/Sign-op0", "no root: its outputs are equal"},
                  {"Default/Erf-op0", "not judged: none of its outputs was compared"},
                  {"Default/Relu6-op0", "no root: its outputs are equal"}});
}

TEST_CASE("an account names the root that a run depends on, of several") {
  const Trial trial(two_roots);
  const Conclusions found = conclusions(trial);
  CHECK(found.at("Default/Add-op0") == "no root: it depends on the root Default/Exp-op0");
  CHECK(found.at("Default/Neg-op0") == "no root: it depends on the root Default/Cos-op0");
}

TEST_CASE("an account says why a run is not judged") {
  const auto conclusion = [](const std::function<MadeNet::Tensor(MadeNet&)>& build, const char* name) {
    const Trial trial([&](MadeNet& net) { (void)build(net); });
    return conclusions(trial).at(name);
  };
  CHECK(conclusion(
            [](MadeNet& net) {
              const auto y = net.op("Exp", {net.input("x")});
              const auto z = net.op("Sign", {y});
              if (net.bad()) net[y][3] *= 1.000001F;
              if (net.bad()) net[z][3] *= -1;
              return z;
            },
            "Default/Sign-op0") == "not judged: the operator chooses among its inputs, which differ");
  CHECK(conclusion(
            [](MadeNet& net) {
              const auto y = net.op("Neg", {net.input("x")});
              net.hide_input(y, 0);
              if (net.bad()) net[y][3] += 1;
              return y;
            },
            "Default/Neg-op0") == "not judged: none of its inputs was dumped on both sides");
  CHECK(conclusion(
            [](MadeNet& net) {
              const auto y = net.op("Exp", {net.input("x")});
              const Values right = net[y];
              const auto z = net.op("Neg", {y});
              if (net.bad()) net[y][2] += 1;
              if (net.bad()) net.show_input(z, 0, right);
              return z;
            },
            "Default/Exp-op0") ==
        "not judged: what reads its outputs has equal inputs, so they were not passed on as they are");
}

TEST_CASE("an account has what went in with its gains, what came out, and what was looked through") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Exp", {net.input("x")});
    const auto hidden = net.op("Softmax", {y, net.weight("v")});
    net.hide_input(hidden, 0);
    net.hide_output(hidden);
    const auto z = net.op("Add", {hidden, net.weight("w"), net.constant(2)});
    net.hide_input(z, 0);
    if (net.bad()) net[z][5] += 0.01F;
  });
  const Pairing& pairing = trial.compared().pairing();
  const DivergenceReport report = with_accounts(trial.compared());
  const auto found = std::find_if(report.accounts.begin(), report.accounts.end(), [&](const RunAccount& account) {
    return pairing.op_name(account.op) == "Default/Add-op0";
  });
  REQUIRE(found != report.accounts.end());
  Texts inputs, through;
  for (const InputAccount& input : found->inputs) {
    inputs.push_back(
        fmt::format("{} {} of {}{}{} {:.3g}", input.slot, input.error.value_or(-1),
                    input.producer == kNoId ? input.parameter : std::string(pairing.op_name(input.producer)),
                    input.exact ? " exact" : "", input.constant ? " constant" : "", input.gain.value_or(-1)));
  }
  for (const OperatorId op : found->through) through.emplace_back(pairing.op_name(op));
  // Those of what was looked through first; an input that was not dumped has no error and no gain.
  CHECK(inputs == Texts{"0 0 of  exact 0.267", "1 0 of  exact 0.133", "1 0 of w exact 0.133",
                        "2 0 of  exact constant 0.764", "0 -1 of Default/Softmax-op0 -1"});
  CHECK(through == Texts{"Default/Softmax-op0"});
  REQUIRE(found->outputs.size() == 1);
  CHECK(found->outputs.front().judged);
  CHECK(found->outputs.front().measured > 9e-4);
  CHECK(found->outputs.front().score > found->threshold);
  // The operator that was not dumped is the likelier one.
  CHECK(trial.roots() == Texts{"value Default/Softmax-op0"});
  CHECK(found->is_root);
  REQUIRE(found->root_op);
  CHECK(pairing.op_name(*found->root_op) == "Default/Softmax-op0");
  CHECK(found->conclusion ==
        "its outputs show the root Default/Softmax-op0: its outputs differ more than its inputs explain");
}

TEST_CASE("the runs of an operator are accounted for, up to a limit; others are counted") {
  const Trial trial([](MadeNet& net) { net.op("Exp", {net.op("Neg", {net.input("x")})}); }, {.steps = 70});
  const test::ComparedDumps& compared = trial.compared();
  const std::vector<OperatorId> one = {OperatorId(1)};
  const DivergenceReport report = find_divergences(compared.a(), compared.b(), compared.pairing(), compared.diffs(),
                                                   ModuleTree::of(*compared.b().index, *compared.a().index), {one});
  REQUIRE(report.accounts.size() == kMostTried);
  CHECK(report.more_accounts == 70 - kMostTried);
  for (size_t i = 0; i < report.accounts.size(); ++i) {
    CHECK(report.accounts[i].op == 1);
    CHECK(report.accounts[i].place.step == static_cast<int64_t>(i));
  }
  CHECK(compared.report().accounts.empty());
}

TEST_CASE("up to eight operators whose outputs were not dumped are looked through") {
  const auto looked_through = [](int hidden) {
    const Trial trial([=](MadeNet& net) {
      auto x = net.op("Neg", {net.input("x")});
      for (int i = 0; i <= hidden; ++i) {
        x = net.op("Add", {x, net.weight(fmt::format("w{}", i))});
        net.hide_input(x, 0);
        if (i < hidden) net.hide_output(x);
      }
    });
    return with_accounts(trial.compared()).accounts.back().through.size();
  };
  CHECK(looked_through(1) == 1);
  CHECK(looked_through(8) == 8);
  CHECK(looked_through(9) == 8);
}

TEST_CASE("an account lists 64 inputs, dumped or not") {
  for (const bool dumped : {true, false}) {
    const Trial trial([=](MadeNet& net) {
      std::vector<MadeNet::Tensor> inputs;
      for (int i = 0; i < 70; ++i) inputs.push_back(net.input(fmt::format("x{}", i)));
      const auto sum = net.op("AddN", inputs);
      for (size_t i = 0; i < inputs.size() && !dumped; ++i) net.hide_input(sum, i);
    });
    CHECK(with_accounts(trial.compared()).accounts.at(0).inputs.size() == 64);
  }
}

}  // namespace msdump
