#include "compare/match/msprobe/msprobe_layers.h"

#include <fmt/format.h>

#include "io/json.h"
#include "support/catch.h"
#include "support/growth.h"
#include "support/made_items.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using Strings = std::vector<std::string>;
using test::items_of;

struct Dump {
  MsprobeItems items;
  std::string json_path;
};

// A dump whose stack.json is the older form's.
Dump dump(const test::ScratchDir& scratch, const std::string& folder, const Strings& names,
          const std::string& construct, const std::string& stacks = R"({"any": []})") {
  scratch.write(folder + "/stack.json", stacks);
  scratch.write(folder + "/construct.json", construct);
  return {items_of(names), scratch.file(folder + "/dump.json")};
}

Strings layer_mapping(const Dump& target, const Dump& golden, std::string_view yaml) {
  const auto rules = read_layer_rules(*parse_yaml(yaml));
  REQUIRE(rules);
  const auto mapping =
      msprobe_layer_mapping({target.items, target.json_path}, {golden.items, golden.json_path}, *rules);
  if (!mapping) return {"error: " + mapping.error().message};
  Strings all;
  for (const MsprobeItem& item : target.items.items) {
    const auto found = mapping->find(item.name);
    all.push_back(found == mapping->end() ? "nothing" : found->second);
  }
  return all;
}

TEST_CASE("layers of other names are paired by their place in the model") {
  const test::ScratchDir scratch;
  const Dump target = dump(scratch, "a",
                           {"Functional.relu.0.forward.input.0", "Functional.relu.1.forward.input.0",
                            "Cell.mlp.Mlp.forward.0.output.0", "Functional.relu.1.backward.input.0"},
                           R"({"Functional.relu.0.forward": "Cell.mlp.Mlp.forward.0",
                               "Functional.relu.1.forward": "Cell.mlp.Mlp.forward.0",
                               "Cell.mlp.Mlp.forward.0": null})");
  const Dump golden = dump(scratch, "b",
                           {"Functional.relu.3.forward.input.0", "Functional.relu.4.forward.input.0",
                            "Module.net.Mlp.forward.0.output.0", "Functional.relu.4.backward.input.0"},
                           R"({"Functional.relu.3.forward": "Module.net.Mlp.forward.0",
                               "Functional.relu.4.forward": "Module.net.Mlp.forward.0"})");
  const Strings expected{"Functional.relu.3.forward.input.0", "Functional.relu.4.forward.input.0",
                         "Module.net.Mlp.forward.0.output.0", "Functional.relu.4.backward.input.0"};
  CHECK(layer_mapping(target, golden, "TopLayer: {mlp: net}") == expected);
  CHECK(layer_mapping(target, golden, "Cell: {mlp: net(Mlp)}") == expected);
  CHECK(layer_mapping(target, golden, "TopLayer: {}") == Strings{"N/A", "N/A", "N/A", "N/A"});
}

TEST_CASE("the longest rule of a layer counts, and items without a counterpart have none") {
  const test::ScratchDir scratch;
  const Dump target = dump(scratch, "a", {"Cell.a.b.Dense.forward.0.input.0", "Cell.a.b.Dense.forward.0.input.1"},
                           R"({"Cell.a.b.Dense.forward.0": "Cell.a.A.forward.0", "Cell.a.A.forward.0": null})");
  const Dump golden = dump(scratch, "b", {"Module.c.Linear.forward.0.input.0"}, R"({"x": null})");
  CHECK(layer_mapping(target, golden, "TopLayer: {a: x, a.b: c}") ==
        Strings{"Module.c.Linear.forward.0.input.0", "N/A"});
}

TEST_CASE("without stacks or modules there is no mapping of layers") {
  const test::ScratchDir scratch;
  const Dump empty = dump(scratch, "a", {"Cell.a.Dense.forward.0.input.0"}, "{}", "{}");
  CHECK(layer_mapping(empty, empty, "TopLayer: {}") == Strings{"nothing"});
  const Dump short_name = dump(scratch, "b", {"a.b.0"}, R"({"x": null})");
  CHECK(layer_mapping(short_name, short_name, "TopLayer: {}") == Strings{"error: 'a.b.0' has fewer than four parts"});
}

TEST_CASE("layers of a ParallelTransformer count from 0, and older stacks name the framework's function") {
  const test::ScratchDir scratch;
  const Strings layers{"Cell.net.ParallelTransformer.forward.0.input.0", "Cell.net.layers.4.Layer.forward.0.input.0"};
  const Dump target = dump(scratch, "a", layers, R"({"x": null})");
  const Dump golden = dump(
      scratch, "b", {"Module.net.ParallelTransformer.forward.0.input.0", "Module.net.layers.0.Layer.forward.0.input.0"},
      R"({"x": null})");
  CHECK(layer_mapping(target, golden, "TopLayer: {}") ==
        Strings{"Module.net.ParallelTransformer.forward.0.input.0", "Module.net.layers.0.Layer.forward.0.input.0"});
  const auto stacks = [](std::string_view function) {
    return fmt::format(
        R"({{"Functional.f.0.forward": ["File /site-packages/torch/x.py, line 1, in {}, \n c",
            "File /u.py, line 2, in g, \n c"]}})",
        function);
  };
  const Strings call{"Functional.f.0.forward.input.0"};
  const Dump one = dump(scratch, "c", call, R"({"x": null})", stacks("one"));
  const Dump two = dump(scratch, "d", call, R"({"x": null})", stacks("two"));
  CHECK(layer_mapping(one, one, "TopLayer: {}") == call);
  CHECK(layer_mapping(one, two, "TopLayer: {}") == Strings{"N/A"});
}

TEST_CASE("the cost of a layer mapping grows with the calls of a layer, not with their square") {
  const test::ScratchDir scratch;
  const auto make = [&](size_t count) {
    Strings names;
    for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("Functional.relu.{}.forward.input.0", i));
    return dump(scratch, std::to_string(count), names, R"({"x": null})");
  };
  const auto map = [](const Dump& calls) {
    REQUIRE(msprobe_layer_mapping({calls.items, calls.json_path}, {calls.items, calls.json_path}, {}));
  };
  CHECK(test::growth(500, make, map) < test::kNotQuadratic);
}

TEST_CASE("the cost of renumbering layers grows with the transformers, not with their square") {
  const test::ScratchDir scratch;
  const auto make = [&](size_t count) {
    Strings names;
    for (size_t i = 0; i < count; ++i)
      names.push_back(fmt::format("Cell.t{}.ParallelTransformer.forward.0.input.0", i));
    return dump(scratch, std::to_string(count), names, R"({"x": null})");
  };
  const auto map = [](const Dump& calls) {
    REQUIRE(msprobe_layer_mapping({calls.items, calls.json_path}, {calls.items, calls.json_path}, {}));
  };
  CHECK(test::growth(200, make, map) < test::kNotQuadratic);
}

TEST_CASE("inside a transformer another one is renumbered by its own name") {
  const test::ScratchDir scratch;
  const Strings layers{"Cell.net.ParallelTransformer.forward.0.input.0", "Cell.net.layers.4.a.Layer.forward.0.input.0",
                       "Cell.net.layers.6.a.Layer.forward.0.input.0"};
  const Dump target = dump(scratch, "a", layers, R"({"x": null})");
  const Dump golden =
      dump(scratch, "b",
           {"Module.net.ParallelTransformer.forward.0.input.0", "Module.net.layers.0.a.Layer.forward.0.input.0",
            "Module.net.layers.2.a.Layer.forward.0.input.0"},
           R"({"x": null})");
  CHECK(layer_mapping(target, golden, "TopLayer: {}") == Strings{"Module.net.ParallelTransformer.forward.0.input.0",
                                                                 "Module.net.layers.0.a.Layer.forward.0.input.0",
                                                                 "Module.net.layers.2.a.Layer.forward.0.input.0"});
}

TEST_CASE("a path of 400 000 layers is one as any other") {
  const test::ScratchDir scratch;
  std::string path;
  for (int i = 0; i < 400'000; ++i) path += "a.";
  const Strings names = {"Cell." + path + "fc.Dense.forward.0.input.0", "Cell.fc.Dense.forward.0.input.0"};
  const Dump one = dump(scratch, "a", names, R"({"x": null})"), other = dump(scratch, "b", names, R"({"x": null})");
  CHECK(layer_mapping(one, other, "TopLayer: {}") == names);
}

}  // namespace
}  // namespace msdump
