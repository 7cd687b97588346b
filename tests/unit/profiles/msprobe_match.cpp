#include "profiles/msprobe/match.h"

#include <algorithm>
#include <random>
#include <unordered_map>

#include <fmt/format.h>

#include "compare/match/msprobe/msprobe_keys.h"
#include "compare/match/msprobe/msprobe_layers.h"
#include "io/yaml.h"
#include "support/catch.h"
#include "support/growth.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using Strings = std::vector<std::string>;

MsprobeState state_of(std::string_view name) {
  if (name.find("parameters_grad") != std::string_view::npos) return MsprobeState::kParametersGrad;
  if (name.find(".parameters.") != std::string_view::npos) return MsprobeState::kParameters;
  return name.find(".output.") != std::string_view::npos ? MsprobeState::kOutput : MsprobeState::kInput;
}

// Items of these names, each the entry before its ".input." or ".output.".
MsprobeItems items_of(const Strings& names) {
  MsprobeItems items;
  items.framework = "mindspore";
  for (const std::string& name : names) {
    MsprobeItem item;
    item.name = item.key = name;
    item.state = state_of(name);
    size_t end = name.size();
    for (const std::string_view part : {".input.", ".output.", ".parameters."}) end = std::min(end, name.find(part));
    const std::string entry = name.substr(0, end);
    if (items.entries.empty() || items.entries.back() != entry) items.entries.push_back(entry);
    item.entry = static_cast<uint32_t>(items.entries.size() - 1);
    items.items.push_back(std::move(item));
  }
  return items;
}

Strings keys_of(const Strings& target, const MsprobeMappings& mappings, const Strings& golden = {}) {
  const auto keys = msprobe_keys(items_of(target), items_of(golden), mappings);
  if (!keys) return {"error: " + keys.error().message};
  return *keys;
}

// "A=B" and "A=-".
Strings print(const std::vector<MsprobePair>& pairs, const Strings& target, const Strings& golden) {
  Strings all;
  for (const MsprobePair& pair : pairs) {
    all.push_back(target[pair.target] + "=" + (pair.golden ? golden[*pair.golden] : "-"));
  }
  return all;
}

TEST_CASE("items of one key are paired in the order of the target") {
  const Strings target{"b", "a", "c"}, golden{"a", "x", "b", "a"};
  CHECK(print(match_exactly(target, items_of(golden)).value(), target, golden) == Strings{"b=b", "a=a", "a=a", "c=-"});
}

TEST_CASE("names that repeat on both sides do not make more pairs than memory holds") {
  const Strings names(5000, "T.f.0.forward.input.0");
  const auto pairs = match_exactly(names, items_of(names));
  REQUIRE_FALSE(pairs);
  CHECK(pairs.error().code == ErrorCode::kTooLarge);
  CHECK(match_exactly({names[0]}, items_of(names))->size() == 5000);
}

TEST_CASE("a cell mapping renames as if each of its names were tried in turn") {
  std::mt19937 random(3);
  const auto word = [&](size_t longest) {
    std::string text;
    for (size_t i = random() % (longest + 1); i > 0; --i) text += "ab.c"[random() % 4];
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<std::string, std::string>> cells;
    for (size_t i = random() % 12; i > 0; --i) cells.emplace_back(word(4), word(3));
    const MsprobeCells sorted(cells);
    const std::string cell = word(10);
    std::string expected = cell;
    const auto whole = std::find_if(cells.begin(), cells.end(), [&](const auto& pair) { return pair.first == cell; });
    if (whole != cells.end()) {
      expected = whole->second;
    } else {
      for (const auto& [from, to] : cells) {
        if (const size_t at = expected.find(from); at != std::string::npos) expected.replace(at, from.size(), to);
      }
    }
    INFO(round);
    CHECK(sorted.renamed(cell) == expected);
  }
}

std::string yaml_of_cells(size_t count) {
  std::string yaml;
  for (size_t i = 0; i < count; ++i) yaml += fmt::format("block{0}.Dense: stage{0}.Linear\n", i);
  return yaml;
}

TEST_CASE("the cost of a cell mapping grows with its entries and the names, not with their product") {
  const auto read = [](size_t count) { return parse_yaml(yaml_of_cells(count)).value(); };
  CHECK(test::growth(500, read, [](const JsonValue& yaml) { REQUIRE(read_name_pairs(yaml)); }) < test::kNotQuadratic);
  const auto make = [](size_t count) {
    MsprobeMappings mappings;
    mappings.cell = read_name_pairs(parse_yaml(yaml_of_cells(count)).value()).value();
    Strings names;
    for (size_t i = 0; i < count; ++i) names.push_back(fmt::format("Cell.top.block{}.Dense.forward.0.input.0", i));
    return std::pair(items_of(names), mappings);
  };
  CHECK(test::growth(300, make, [](const auto& input) { REQUIRE(msprobe_keys(input.first, {}, input.second)); }) <
        test::kNotQuadratic);
}

TEST_CASE("the fuzzy match passes over call numbers and over what has no partner") {
  const auto match = [](const Strings& target, const Strings& golden) {
    return print(match_fuzzily(target, items_of(golden)), target, golden);
  };
  const std::string f0 = "T.f.0.forward.input.0", f1 = "T.f.1.forward.input.0", g0 = "T.g.0.forward.input.0",
                    h0 = "T.h.0.forward.input.0";
  CHECK(match({f1}, {f0}) == Strings{f1 + "=" + f0});
  CHECK(match({g0, f1}, {f0, g0}) == Strings{g0 + "=-", f1 + "=" + f0});
  CHECK(match({h0, g0}, {g0, f0}) == Strings{h0 + "=-", g0 + "=" + g0});
  CHECK(match({f0}, {g0, h0, f1}) == Strings{f0 + "=" + f1});
  CHECK(match({f0, g0}, {h0}) == Strings{f0 + "=-", g0 + "=-"});
  // The walk ends when one queue runs dry: the third item is lost.
  CHECK(match({f0, g0, h0}, {f0}) == Strings{f0 + "=" + f0, g0 + "=-"});
  CHECK(match({"x.0.debug"}, {"x.1.debug"}) == Strings{"x.0.debug=-"});
  CHECK(match({"M.a.L.backward.1.input.0"}, {"M.a.L.backward.2.input.0"}) == Strings{"M.a.L.backward.1.input.0=-"});
}

TEST_CASE("dtypes match when they are equal or both floats, across frameworks by family") {
  CHECK(msprobe_dtypes_match("Float32", "BFloat16", false));
  CHECK(msprobe_dtypes_match("torch.float16", "torch.float64", false));
  CHECK_FALSE(msprobe_dtypes_match("Float32", "torch.float32", false));
  CHECK(msprobe_dtypes_match("Float32", "torch.float16", true));
  CHECK(msprobe_dtypes_match("Int8", "torch.int64", true));
  CHECK_FALSE(msprobe_dtypes_match("Int8", "torch.int64", false));
  CHECK(msprobe_dtypes_match("Bool", "torch.bool", true));
  CHECK_FALSE(msprobe_dtypes_match("Bool", "torch.uint8", true));
  CHECK(msprobe_dtypes_match("N/A", "N/A", false));
  CHECK(msprobe_dtypes_match("<class 'int'>", "<class 'int'>", true));
}

TEST_CASE("without a mapping the keys are the items' own") {
  MsprobeItems items = items_of({"T.f.1.backward.input.0"});
  items.items[0].key = "T.f.0.backward.input.0";
  CHECK(*msprobe_keys(items, {}, {}) == Strings{"T.f.0.backward.input.0"});
  CHECK(*msprobe_keys(items, {}, {.cell = {}, .api = {}, .data = {{}}}) == Strings{"T.f.1.backward.input.0"});
}

TEST_CASE("a cell mapping renames cells, whole or in parts") {
  MsprobeMappings mappings;
  mappings.cell.emplace();
  CHECK(keys_of({"Cell.a.Dense.forward.0.input.0", "Cell.a.Dense.parameters_grad.0.w", "x.0.debug"}, mappings) ==
        Strings{"Module.a.Dense.forward.0.input.0", "Module.a.Dense.parameters_grad.0.w", "N/A"});
  mappings.cell = {{"a.Dense", "b.Linear"}, {"Dense", "Linear"}, {"ear", "eal"}};
  CHECK(keys_of(
            {"Cell.a.Dense.forward.0.input.0", "Cell.c.Dense.backward.0.input.0", "Functional.Dense.0.forward.input.0"},
            mappings) == Strings{"Module.b.Linear.forward.0.input.0", "Module.c.Lineal.backward.0.input.0",
                                 "Functional.Lineal.0.forward.input.0"});
}

TEST_CASE("a data mapping renames items") {
  MsprobeMappings mappings;
  mappings.data.emplace();
  (*mappings.data)["T.f.0.forward.input.0"] = "T.g.0.forward.input.1";
  CHECK(keys_of({"T.f.0.forward.input.0", "T.f.0.forward.input.1"}, mappings) ==
        Strings{"T.g.0.forward.input.1", "T.f.0.forward.input.1"});
}

TEST_CASE("msprobe's own table renames functions of MindSpore") {
  MsprobeMappings mappings;
  mappings.api.emplace();
  CHECK(keys_of({"Functional.matmul.0.forward.input.0", "Functional.relu.0.forward.input.0",
                 "Functional.dense.1.backward.output.0", "Mint.add.0.forward.input.0",
                 "MintFunctional.relu.0.forward.input.0", "Tensor.matmul.0.forward.input.0",
                 "Primitive.add.Add.0.forward.input.0"},
                mappings) == Strings{"Torch.matmul.0.forward.input.0", "Functional.relu.0.forward.input.0",
                                     "Functional.linear.1.backward.output.0", "Torch.add.0.forward.input.0",
                                     "Functional.relu.0.forward.input.0", "Tensor.matmul.0.forward.input.0",
                                     "Primitive.add.Add.0.forward.input.0"});
  CHECK(keys_of({"noname"}, mappings)[0].starts_with("error: "));
}

TEST_CASE("rules of an API mapping pair slots, and what they do not name has no partner") {
  const auto rules = read_api_rules(*parse_yaml(R"(
- {ms_api: Functional.f, pt_api: Torch.g, ms_args: [0, axis], pt_args: [1, dim], ms_output: [0], pt_output: [0]}
- {ms_api: Functional.h, pt_api: Torch.h, ms_args: [0], pt_args: [0, 1]}
)"));
  REQUIRE(rules);
  CHECK(rules->size() == 1);  // of the second the lists differ in length: msprobe passes it over
  const MsprobeMappings mappings{.cell = {}, .api = *rules, .data = {}};
  const Strings target{"Functional.f.0.forward.input.0", "Functional.f.0.forward.input.axis",
                       "Functional.f.0.forward.input.10", "Functional.f.0.forward.output.0"};
  CHECK(keys_of(target, mappings, {"Torch.g.0.forward.input.0"}) ==
        Strings{"Torch.g.0.forward.input.1", "Torch.g.0.forward.input.dim", "Torch.g.0.forward.input.10abandoned",
                "Torch.g.0.forward.output.0"});
  CHECK(keys_of(target, mappings, {"Torch.x.0.forward.input.0"}) == target);
}

TEST_CASE("a rule without the lists that msprobe reads stops the comparison") {
  const auto rules = read_api_rules(*parse_yaml(
      "- {ms_api: Functional.f, pt_api: Torch.g, ms_args: [0], pt_args: [0], ms_outputs: [0], pt_outputs: [0]}"));
  REQUIRE(rules);
  const Strings keys = keys_of({"Functional.f.0.forward.output.0"}, {.cell = {}, .api = *rules, .data = {}},
                               {"Torch.g.0.forward.output.0"});
  CHECK(keys[0].starts_with("error: the api mapping of Functional.f has no ms_output"));
}

TEST_CASE("mapping files of another form are refused") {
  CHECK_FALSE(read_name_pairs(*parse_yaml("- a")));
  CHECK_FALSE(read_name_pairs(*parse_yaml("a: [b]")));
  CHECK(read_name_pairs(*parse_yaml("{a: b, c: d, a: e}")) ==
        std::vector<std::pair<std::string, std::string>>{{"a", "e"}, {"c", "d"}});
  CHECK_FALSE(read_api_rules(*parse_yaml("a: b")));
  CHECK_FALSE(read_api_rules(*parse_yaml("- ms_api: a")));
  CHECK_FALSE(read_layer_rules(*parse_yaml("- a")));
  CHECK_FALSE(read_layer_rules(*parse_yaml("Top: a")));
}

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

TEST_CASE("a mapping with a name longer than names are is refused, for every item may take it over") {
  const std::string longest(4096, 'x'), longer = longest + 'x';
  CHECK(read_name_pairs(*parse_yaml("a: " + longest)));
  CHECK_FALSE(read_name_pairs(*parse_yaml("a: " + longer)));
  CHECK_FALSE(read_name_pairs(*parse_yaml("? " + longer + "\n: a")));
  CHECK(read_layer_rules(*parse_yaml("Top: {a: " + longest + "}")));
  CHECK_FALSE(read_layer_rules(*parse_yaml("Top: {a: " + longer + "}")));
  CHECK(read_api_rules(*parse_yaml("[{ms_api: a, pt_api: " + longest + "}]")));
  CHECK_FALSE(read_api_rules(*parse_yaml("[{ms_api: a, pt_api: " + longer + "}]")));
  CHECK_FALSE(read_api_rules(*parse_yaml("[{ms_api: a, pt_api: b, ms_args: [c], pt_args: [" + longer + "]}]")));
}

}  // namespace
}  // namespace msdump
