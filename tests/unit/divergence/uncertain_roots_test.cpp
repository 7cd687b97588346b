// What is reported where it is not certain where a value comes from, and where several roots may be one; with all that is
// said of each.
#include <fmt/format.h>
#include <Eigen/Core>

#include "divergence/divergence.h"
#include "support/catch.h"
#include "support/graph_run.h"
#include "support/made_calls.h"
#include "support/made_net.h"

namespace msdump {
namespace {

using test::node_text;

// "value Default/Mul-op0 ? +3: REASON", with what went in and came out: "0 1 -> 0".
Texts whole(const test::ComparedDumps& compared) {
  const Texts names = compared.roots();
  const auto slots = [&](const std::vector<TensorId>& tensors) {
    std::string text;
    for (const TensorId tensor : tensors) {
      const TensorRecord& record = (*compared.b().tensors)[compared.pairing().tensors[tensor].b];
      text += (text.empty() ? "" : " ") + std::string(record.name.slot);
    }
    return text;
  };
  Texts lines;
  for (size_t i = 0; i < names.size(); ++i) {
    const Divergence& root = compared.report().roots[i];
    lines.push_back(fmt::format("{} {} +{}, {} -> {}: {}", names[i], name_of(root.rule), root.downstream,
                                slots(root.inputs), slots(root.outputs), root.reason));
  }
  return lines;
}

// What may be to blame without having been dumped.
Texts candidates(const test::ComparedDumps& compared) {
  Texts names;
  for (const OperatorId op : compared.report().roots.at(0).candidates)
    names.emplace_back(compared.pairing().op_name(op));
  return names;
}

const char* const kGradients = "Gradients/Default";

Values scaled(Values values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

// A candidate and a reference, written operator by operator: each with one input in float32 and one output.
class WrittenDumps {
 public:
  void put(bool bad, const std::string& op, const Values& input, const Values& output, bool half = false) const {
    put(bad, op, "input.0.DefaultFormat.Float32", "<f4", bytes_of(input));
    if (!half) return put(bad, op, "output.0.DefaultFormat.Float32", "<f4", bytes_of(output));
    std::vector<Eigen::half> narrow;
    for (const float value : output) narrow.emplace_back(value);
    put(bad, op, "output.0.DefaultFormat.Float16", "<f2", bytes_of(narrow));
  }
  void put_ir(bool bad, const std::string& body) const {
    scratch_.write(fmt::format("{}/rank_0/graphs/ms_output_trace_code_graph_0.ir", side(bad)), test::ir_text(body));
  }
  [[nodiscard]] Texts roots() const {
    return whole(test::ComparedDumps(scratch_.path() / side(true), scratch_.path() / side(false)));
  }

 private:
  static const char* side(bool bad) { return bad ? "bad" : "ref"; }
  template <class T>
  static std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }
  void put(bool bad, const std::string& op, const std::string& tensor, std::string_view dtype,
           const std::string& bytes) const {
    const int64_t count = static_cast<int64_t>(bytes.size()) / (dtype == "<f2" ? 2 : 4);
    scratch_.write(fmt::format("{}/rank_0/Net/0/0/{}.Default_{}.0.0.1700000000000001.{}.npy", side(bad),
                               op.substr(0, op.find('-')), op, tensor),
                   test::npy_of(dtype, {count}, bytes));
  }

  test::ScratchDir scratch_;
};

}  // namespace

TEST_CASE("constants of gradients that differ are one root, the first in time, where nothing else is guilty") {
  const auto build = [](bool guilty) {
    return [=](MadeNet& net) {
      const auto x = net.input("x");
      const float factor = net.bad() ? 3.0F : 2.0F;
      net.op("Mul", {x, net.constant(factor)}, kGradients);
      net.op("Add", {x, net.constant(factor)}, kGradients);
      const auto y = net.op("Exp", {x});
      if (net.bad() && guilty) net[y][5] += 0.25F;
    };
  };
  CHECK(whole(Trial(build(false)).compared()) ==
        Texts{"value Gradients/Default/Mul-op0 graph +2, 0 1 -> 0: its input 1 is 3, 2 in the reference"});
  // Both are exact: neither explains the other.
  CHECK(whole(Trial(build(true)).compared()) ==
        Texts{"value Gradients/Default/Mul-op0 graph +2, 0 1 -> 0: its input 1 is 3, 2 in the reference",
              "value Default/Exp-op0 equal_inputs +1, 0 -> 0: its inputs are equal bit for bit, its outputs differ"});
}

TEST_CASE(
    "a constant of a gradient that differs is a root, and so is an operator whose inputs are equal, in any step") {
  const auto roots = [](int gradient_from, int operator_from) {
    TrialOptions options;
    options.steps = 3;
    const Trial trial(
        [=](MadeNet& net) {
          const auto x = net.input("x");
          const auto y = net.op("Exp", {x});
          if (net.bad() && net.step() >= operator_from) net[y][5] += 0.25F;
          net.op("Mul", {x, net.constant(net.bad() && net.step() >= gradient_from ? 3.0F : 2.0F)}, kGradients);
        },
        options);
    return trial.roots();
  };
  const std::string gradient = "value Gradients/Default/Mul-op0", exp = "value Default/Exp-op0";
  CHECK(roots(0, 1) == Texts{gradient, exp});
  CHECK(roots(1, 1) == Texts{exp, gradient});
  CHECK(roots(1, 0) == Texts{exp, gradient});
  CHECK(roots(1, 3) == Texts{gradient});
}

TEST_CASE("what only the reference has is no root if nothing reads it; the gradient that reads another constant is") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    if (!net.bad()) net.op("Sign", {x});
    if (!net.bad()) net.op("Exp", {x});
    net.op("Mul", {x, net.constant(net.bad() ? 3.0F : 2.0F)}, kGradients);
    if (!net.bad()) net.op("Tanh", {x});
  });
  CHECK(whole(trial.compared()) ==
        Texts{"value Gradients/Default/Mul-op0 graph +2, 0 1 -> 0: its input 1 is 3, 2 in the reference"});
}

TEST_CASE("a constant of the script is one root, whatever lines and operators have it; another constant is another") {
  const auto build = [](int line, float other) {
    return [=](MadeNet& net) {
      const auto x = net.input("x");
      net.on_line(20);
      net.op("Mul", {x, net.constant(net.bad() ? 3.0F : 2.0F)});
      net.on_line(line);
      net.op("Mul", {net.input("y"), net.constant(net.bad() ? other : 2.0F)});
      net.on_line(line);
      net.op("Add", {net.input("z"), net.constant(net.bad() ? 7.0F : 2.0F)});  // on the line of a root
    };
  };
  const std::string first = "value Default/Mul-op0 graph +2, 0 1 -> 0: its input 1 is 3, 2 in the reference";
  CHECK(whole(Trial(build(20, 5)).compared()) == Texts{first});
  CHECK(whole(Trial(build(21, 5)).compared()) ==
        Texts{first, "value Default/Mul-op1 graph +2, 0 1 -> 0: its input 1 is 5, 2 in the reference"});
  CHECK(whole(Trial(build(21, 3)).compared()) == Texts{first});
}

TEST_CASE("a constant that differs is a root although the outputs are within the tolerance") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    const auto y = net.op("Mul", {x, net.constant(net.bad() ? 3.0F : 2.0F)});
    net[y] = scaled(net[x], net.bad() ? 2.0001F : 2.0F);
  });
  CHECK(trial.compared().verdict("Default/Mul-op0", "output:0") == Verdict::kClose);
  CHECK(whole(trial.compared()) ==
        Texts{"value Default/Mul-op0 graph +1, 0 1 -> 0: its input 1 is 3, 2 in the reference"});
}

TEST_CASE("between an input that changed and what wrote it stands an operator of one side, not one before both") {
  const auto build = [](bool between) {
    return [=](MadeNet& net) {
      const auto x = net.input("x");
      if (net.bad() && !between) net.op("Tanh", {x});
      const auto y = net.op("Mul", {x, net.constant(2)});
      if (net.bad() && between) net.op("Tanh", {x});
      auto changed = net[y];
      const auto z = net.op("ReLU", {y});
      if (!net.bad()) return;
      for (float& value : changed) value *= 1.5F;
      net.show_input(z, 0, changed);
      for (float& value : net[z]) value *= 1.5F;
    };
  };
  CHECK(whole(Trial(build(false)).compared()) ==
        Texts{"value Default/ReLU-op0 handed_on +2, 0 -> 0: its input 0 is not what Default/Mul-op0 wrote"});
  CHECK(whole(Trial(build(true)).compared()) ==
        Texts{"value Default/Tanh-op0 extra +0, 0 -> : only the candidate has it, and Default/ReLU-op0, which comes "
              "after it, reads something else"});
}

TEST_CASE("downstream of a root an operator with an input that was not dumped is not one") {
  const Trial trial([](MadeNet& net) {
    const auto y = net.op("Exp", {net.op("Mul", {net.input("x"), net.constant(net.bad() ? 3.0F : 2.0F)})});
    net.hide_output(y);
    const auto z = net.op("Sub", {y, net.weight("w")});
    net.hide_input(z, 0);
    net.op("Neg", {z});
  });
  CHECK(whole(trial.compared()) ==
        Texts{"value Default/Mul-op0 graph +6, 0 1 -> 0: its input 1 is 3, 2 in the reference"});
}

TEST_CASE("msprobe: an input of unknown origin that equals a module's parameter is that parameter") {
  const auto roots = [](const char* io) {
    const test::ScratchDir scratch;
    for (const bool bad : {false, true}) {
      const auto write = [&](const std::string& name, const Values& values) {
        const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
        scratch.write(fmt::format("{}/step0/rank0/dump_tensor_data/{}.npy", bad ? "bad" : "ref", name),
                      test::npy_of("<f4", {static_cast<int64_t>(values.size())}, bytes));
      };
      const Values w = some_values(bad ? 3.0F : 2.0F);
      write("Functional.linear.0.forward.input.0", some_values());
      write("Functional.linear.0.forward.input.1", w);
      write("Functional.linear.0.forward.output.0", some_values(bad ? 6.0F : 4.0F));
      write(std::string("Module.fc.Linear.forward.0.") + io, w);
    }
    return whole(test::ComparedDumps(scratch.path() / "bad", scratch.path() / "ref"));
  };
  CHECK(roots("parameters.weight") ==
        Texts{"parameter Module.fc.Linear.forward.0:weight parameter +3, 1 -> : its value "
              "differs already where it is first read"});
  CHECK(roots("input.0") ==
        Texts{"input Functional.linear.0.forward source +3, 1 -> : its input 1 differs, and nothing "
              "before it does"});
}

TEST_CASE("a cast that only the candidate has is named where its reader loses what was written") {
  const WrittenDumps dumps;
  const Values x = some_values();
  for (const bool bad : {false, true}) {
    const Values read = scaled(x, bad ? 1.0003F : 1.0F);
    std::string body = node_text("%1", "Mul", "%para1_x", "Default/Mul-op0");
    dumps.put(bad, "Mul-op0", x, x);
    if (bad) {
      body += node_text("%2", "Cast", "%1", "Default/Cast-op0");
      dumps.put(bad, "Cast-op0", x, read, true);
    }
    body += node_text("%3", "ReLU", bad ? "%2" : "%1", "Default/ReLU-op0");
    dumps.put(bad, "ReLU-op0", read, read);
    dumps.put_ir(bad, body);
  }
  CHECK(dumps.roots() ==
        Texts{"value Default/Cast-op0 cast +0, 0 -> 0: only the candidate has this cast to a coarser dtype; "
              "Default/ReLU-op0 reads what it leaves"});
}

TEST_CASE("more error than a coarser dtype has is named where it was made, although no reader shows more") {
  const WrittenDumps dumps;
  const Values x = some_values();
  for (const bool bad : {false, true}) {
    const Values made = scaled(x, bad ? 1.02F : 1.0F);
    std::string body =
        node_text("%1", "Mul", "%para1_x", "Default/Mul-op0") + node_text("%2", "ReLU", "%1", "Default/ReLU-op0");
    dumps.put(bad, "Mul-op0", x, made, bad);
    dumps.put(bad, "ReLU-op0", made, made);
    // So that the candidate is not coarser throughout.
    for (int i = 0; i < 6; ++i) {
      const std::string id = std::to_string(i);
      body += node_text("%" + std::to_string(i + 3), "Tanh", "%para1_x", "Default/Tanh-op" + id);
      dumps.put(bad, "Tanh-op" + id, x, x);
    }
    dumps.put_ir(bad, body);
  }
  CHECK(dumps.roots() ==
        Texts{"value Default/Mul-op0 equal_inputs +3, 0 -> 0: its inputs are equal bit for bit, its outputs differ"});
}

TEST_CASE("msprobe: what a hook of the candidate does in a backward pass is named beside what reads the result") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), gradient = some_values(0.1F), made = scaled(gradient, 3);
    calls.ran("Functional.linear.0.forward", {x}, {scaled(x, 2)});
    calls.ran("Functional.linear.1.forward", {scaled(x, 2)}, {scaled(x, 6)});
    calls.ran("Functional.linear.1.backward", {gradient}, {made});
    const Values read = calls.bad() ? scaled(made, 0.5F) : made;
    if (calls.bad()) calls.ran("Functional.clip.0.forward", {made}, {read});
    calls.ran("Functional.linear.0.backward", {read}, {scaled(read, 2)});
  });
  CHECK(whole(trial.compared()) ==
        Texts{"value Functional.linear.0.backward changed +2, 0 -> 0: its input 0 has more error than "
              "Functional.linear.1.backward, which wrote it: Functional.clip.0.forward, which only the "
              "candidate has, changes it"});
}

TEST_CASE("msprobe: an input of unknown origin may have another shape") {
  const CallTrial trial([](MadeCalls& calls) {
    const Values x = some_values(), other(calls.bad() ? 8 : 12, 3.5F);
    calls.ran("Functional.relu.0.forward", {x}, {scaled(x, 2)});
    calls.ran("Functional.linear.0.forward", {other, x}, {scaled(x, calls.bad() ? 4.0F : 3.0F)});
  });
  CHECK(whole(trial.compared()) ==
        Texts{"input Functional.linear.0.forward source +2, 0 -> : its input 0 differs, and nothing before it does"});
}

TEST_CASE("operators that were not dumped are candidates, from the last value that agrees to the first that does not") {
  enum class Known : uint8_t { kNothing, kAgrees, kDiffers };
  const auto found = [](Known known) {
    const Trial trial([=](MadeNet& net) {
      const auto dumped = net.op("Neg", {net.input("x")});
      const auto first = net.op("Mul", {dumped, net.constant(net.bad() && known == Known::kDiffers ? 3.0F : 2.0F)});
      const auto second = net.op("Mul", {first, net.constant(2)});
      const auto third = net.op("Mul", {second, net.constant(net.bad() && known != Known::kDiffers ? 3.0F : 2.0F)});
      const auto unrelated = net.op("Mul", {dumped, net.constant(5)});
      for (const auto hidden : {first, second, third, unrelated}) {
        net.hide_output(hidden);
        net.hide_input(hidden, 0);
        net.hide_input(hidden, 1);
      }
      net.op("ReLU", {third});
      net.op("Sign", {unrelated});
      if (known != Known::kNothing) net.op("ReLU", {second});
    });
    return candidates(trial.compared());
  };
  CHECK(found(Known::kNothing) == Texts{"Default/Mul-op0", "Default/Mul-op1", "Default/Mul-op2"});
  CHECK(found(Known::kAgrees) == Texts{"Default/Mul-op2"});
  CHECK(found(Known::kDiffers) == Texts{"Default/Mul-op0", "Default/Mul-op1"});
}

TEST_CASE("an operator whose inputs agree is to blame, whatever was not dumped before it") {
  const Trial trial([](MadeNet& net) {
    const auto hidden = net.op("Mul", {net.input("x"), net.constant(2)});
    net.hide_output(hidden);
    net.hide_input(hidden, 0);
    net.hide_input(hidden, 1);
    const auto wrong = net.op("Neg", {hidden});
    if (net.bad()) net[wrong][3] += 1;
  });
  REQUIRE(trial.roots() == Texts{"value Default/Neg-op0"});
  CHECK(candidates(trial.compared()).empty());
}

TEST_CASE("of two values that were not dumped, the operators that lead to the one that differs are candidates") {
  const auto found = [](bool first) {
    const Trial trial([=](MadeNet& net) {
      const auto left = net.op("Mul", {net.input("x"), net.constant(net.bad() && first ? 3.0F : 2.0F)});
      const auto right = net.op("Div", {net.input("y"), net.constant(net.bad() && !first ? 3.0F : 2.0F)});
      for (const auto hidden : {left, right}) {
        net.hide_output(hidden);
        net.hide_input(hidden, 0);
        net.hide_input(hidden, 1);
      }
      net.op("Add", {left, right});
    });
    return candidates(trial.compared());
  };
  CHECK(found(true) == Texts{"Default/Mul-op0"});
  CHECK(found(false) == Texts{"Default/Div-op0"});
}

TEST_CASE("where something changes a value after it was written, the first of its readers is named") {
  const auto roots = [](int readers) {
    const Trial trial([=](MadeNet& net) {
      const auto y = net.op("Mul", {net.input("x"), net.constant(2)});
      for (int i = 0; i < readers; ++i) {
        const auto z = net.op("ReLU", {y});
        if (!net.bad()) continue;
        net.show_input(z, 0, scaled(net[y], 1.5F));
        net[z] = scaled(net[z], 1.5F);
      }
    });
    return whole(trial.compared());
  };
  const Texts first = {"value Default/ReLU-op0 handed_on +2, 0 -> 0: its input 0 is not what Default/Mul-op0 wrote"};
  CHECK(roots(1) == first);
  CHECK(roots(3) == first);
}

}  // namespace msdump
