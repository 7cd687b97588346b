#include "compare/match/parameters/parameter_names.h"

#include "support/catch.h"

namespace msdump {
namespace {

std::string pattern(const std::string& name) { return parameter_names({name}).front().pattern; }

NameFacts facts(std::string_view op_name, std::string_view slot) {
  NameFacts name;
  name.op_name = op_name;
  name.slot = slot;
  name.io = Io::kParameter;
  return name;
}

}  // namespace

TEST_CASE("numbers of layers and experts count, numbers in the names of modules do not") {
  CHECK(pattern("model.layers.12.mlp.fc1.weight") == "model.layers.*.mlp.fc1.weight");
  CHECK(pattern("h.0.ln_1.bias") == "h.*.ln_1.bias");
  CHECK(pattern("layer1.0.conv2.weight") == "layer1.*.conv2.weight");
  CHECK(pattern("7") == "*");
  const auto names = parameter_names({"e/layer_0/k", "e/layer_1/k", "e/layer_10/k", "e.3.experts.14.w1"});
  CHECK(names[2].pattern == "e.layer_*.k");
  CHECK(names[2].numbers == std::vector<int64_t>{10});
  CHECK(names[3].numbers == std::vector<int64_t>{3, 14});
}

TEST_CASE("a number of more digits than 64 bits hold is a text") {
  CHECK(pattern("a.99999999999999999999.b") == "a.99999999999999999999.b");
  CHECK(pattern("a.9223372036854775807.b") == "a.*.b");
}

TEST_CASE("what frameworks call otherwise has one name") {
  CHECK(parameter_names({"bn1.gamma"}).front().text == "bn1.weight");
  CHECK(parameter_names({"bn1/moving_variance"}).front().text == "bn1.running_var");
  CHECK(parameter_names({"dense/kernel"}).front().text == "dense.weight");
  CHECK(parameter_names({"beta"}).front().text == "bias");
  CHECK(parameter_names({"beta.x"}).front().text == "beta.x");
}

TEST_CASE("a parameter of msprobe is named by its module and its slot") {
  CHECK(parameter_of(facts("Module.layer1.fc.Linear.forward.0", "weight")) == "layer1.fc.weight");
  CHECK(parameter_of(facts("Cell.fc.Dense.forward.2", "bias")) == "fc.bias");
  CHECK(parameter_of(facts("Module.fc.Linear.parameters_grad", "weight")).empty());
  CHECK(parameter_of(facts("layer1.fc.weight", "0")) == "layer1.fc.weight");
}

TEST_CASE("weight and bias are split from the module, also where they follow '_'") {
  CHECK(parts_of("a.b.weight").module == "a.b");
  CHECK(parts_of("a.attn.in_proj_bias").module == "a.attn.in_proj");
  CHECK(parts_of("a.attn.in_proj_bias").leaf == "bias");
  CHECK(parts_of("a.running_mean").leaf == "running_mean");
  CHECK(parts_of("a.preweight").leaf == "preweight");
  CHECK(parts_of("weight").module.empty());
}

TEST_CASE("short names are what distinguishes names") {
  using Names = std::vector<std::string>;
  CHECK(short_names({"l.0.q_proj.weight", "l.0.k_proj.weight"}) == Names{"q_proj", "k_proj"});
  CHECK(short_names({"e.0.w1", "e.12.w1"}) == Names{"0", "12"});
  CHECK(short_names({"a.w1", "a.b.w1"}) == Names{"w1", "b.w1"});
  CHECK(short_names({"w1", "w3"}) == Names{"w1", "w3"});
}

TEST_CASE("names are alike by their edit distance") {
  CHECK(name_likeness("abcd", "abcd") == 1);
  CHECK(name_likeness("abcd", "abxx") == Approx(0.5));
  CHECK(name_likeness("", "") == 1);
  CHECK(name_likeness(std::string(300, 'a'), std::string(300, 'b')) == 0);
}

}  // namespace msdump
