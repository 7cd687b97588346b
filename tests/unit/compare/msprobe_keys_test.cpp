#include "compare/match/msprobe/msprobe_keys.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "compare/match/msprobe/msprobe_layers.h"
#include "io/json.h"
#include "support/catch.h"
#include "support/growth.h"
#include "support/made_items.h"

namespace msdump {
namespace {

using Strings = std::vector<std::string>;
using test::items_of;

Strings keys_of(const Strings& target, const MsprobeMappings& mappings, const Strings& golden = {}) {
  const auto keys = msprobe_keys(items_of(target), items_of(golden), mappings);
  if (!keys) return {"error: " + keys.error().message};
  return *keys;
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
