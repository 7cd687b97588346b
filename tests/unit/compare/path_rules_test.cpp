#include "compare/match/rename/name_map_file.h"

#include "compare/match/rename/name_map.h"
#include "support/catch.h"

namespace msdump {
namespace {

std::string renamed(std::string_view rules, std::string_view name) {
  const auto read = read_path_rules(rules);
  return read ? renamed_by(*read, name) : read.error().message;
}

std::vector<SequencedOp> named_ops(const std::vector<std::string>& names) {
  std::vector<SequencedOp> operators;
  for (const std::string& name : names) operators.emplace_back().name = name;
  return operators;
}

}  // namespace

TEST_CASE("a rule renames whole components of a path, wherever they are") {
  CHECK(renamed("blocks=layers", "Module.blocks.0.blocks.1.forward.0") == "Module.layers.0.layers.1.forward.0");
  CHECK(renamed("blocks=layers", "Module.myblocks.0.blocks2.forward.0") == "Module.myblocks.0.blocks2.forward.0");
  CHECK(renamed("blocks = layers", "Default/net/blocks-CellList/MatMul-op0") ==
        "Default/net/layers-CellList/MatMul-op0");
  CHECK(renamed("a.b=c", "x.a.b.a.c") == "x.c.a.c");
  CHECK(renamed("b=x.y", "a.b") == "a.x.y");
}

TEST_CASE("a star is any text inside a component, and the same text on the right") {
  CHECK(renamed("stage*=layers.*", "Module.stage12.conv") == "Module.layers.12.conv");
  CHECK(renamed("h.*.attn=layer.*.attention", "Module.h.3.attn.q") == "Module.layer.3.attention.q");
  CHECK(renamed("block_*_x=b", "a.block_1_x.block_x") == "a.b.block_x");
  CHECK(renamed("*.norm=n", "a.b.norm.c") == "a.n.c");
  CHECK(renamed("*a=x*", "*a") == "x*");
}

TEST_CASE("an empty right side leaves the component out") {
  CHECK(renamed("module=", "Module.module.fc.forward.0") == "Module.fc.forward.0");
  CHECK(renamed("module=", "fc.module") == "fc.");
}

TEST_CASE("rules apply one after the other") {
  CHECK(renamed("# by hand\n\na=b\r\nb=c", "a.b") == "c.c");
  CHECK(renamed("b=c\na=b", "a.b") == "b.c");
}

TEST_CASE("a line that is not a rule is an error") {
  CHECK(renamed("a=b\nc", "a") == "line 2: 'c' has no '='");
  CHECK(renamed("=b", "a") == "line 1: the left side is empty");
  CHECK(renamed("a=*", "a") == "line 1: more stars on the right than on the left");
  CHECK(renamed("**=b", "a") == "line 1: two stars in one component");
}

TEST_CASE("rules are recognised by their first line") {
  const auto are_path_rules = [](std::string_view text) {
    const auto map = parse_name_map(text, {});
    return map && map->kind == NameMapKind::kPaths;
  };
  CHECK(are_path_rules("\n# text\nblocks=layers\n"));
  CHECK(are_path_rules("\xEF\xBB\xBFmodule="));
  for (const char* const other : {"", "# a=b", "a,b=c", "a: b=c", "- a=b", "{a=b}", "[a=b]", "a=b:", "a.b"}) {
    INFO(other);
    CHECK_FALSE(are_path_rules(other));
  }
}

TEST_CASE("wrappers are what all modules are in") {
  CHECK(wrappers_of(named_ops({"Module.module.a.forward.0", "Torch.mul.0.forward", "Module.module.module.b"})) == 1);
  CHECK(wrappers_of(named_ops({"Module.module.module.a", "Module.module.module.b"})) == 2);
  CHECK(wrappers_of(named_ops({"Module.module.a", "Module.b"})) == 0);
  CHECK(wrappers_of(named_ops({"Torch.module.mul"})) == 0);
  CHECK(without_wrappers("Module.module.module.a.0", 1) == "Module.module.a.0");
  CHECK(without_wrappers("Torch.module.mul", 1) == "Torch.module.mul");
}

}  // namespace msdump
