#include "compare/match/module_tree.h"

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

constexpr std::string_view kDump =
    R"({"task":"statistics","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{}})";

DumpIndex index_of(const test::ScratchDir& scratch) {
  auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  return std::move(*index);
}

}  // namespace

TEST_CASE("a tree knows the parent of a name, or none") {
  ModuleTree tree;
  CHECK(tree.empty());
  tree.add("Functional.linear.0.forward", "Module.fc.Linear.forward.0");
  tree.add("Module.fc.Linear.forward.0", "");
  CHECK(tree.parent_of("Functional.linear.0.forward") == "Module.fc.Linear.forward.0");
  CHECK(tree.parent_of("Module.fc.Linear.forward.0").empty());
  CHECK(tree.parent_of("Functional.relu.0.forward").empty());
}

TEST_CASE("construct.json is read from beside every dump.json") {
  const test::ScratchDir scratch;
  for (const std::string rank : {"rank0", "rank1"}) {
    scratch.write("step0/" + rank + "/dump.json", kDump);
    scratch.write("step0/" + rank + "/construct.json", R"({"Functional.relu.0.forward": "Module.)" + rank +
                                                           R"(.Net.forward.0", "Module.x.Net.forward.0": null})");
  }
  const ModuleTree tree = ModuleTree::of(index_of(scratch));
  CHECK(tree.parent_of("Functional.relu.0.forward") == "Module.rank0.Net.forward.0");  // the first that says it
  CHECK(tree.problems().empty());
}

TEST_CASE("the reference's parents come first, then those of what only the candidate has") {
  const test::ScratchDir reference, candidate;
  for (const test::ScratchDir* const scratch : {&reference, &candidate}) scratch->write("step0/rank0/dump.json", kDump);
  reference.write("step0/rank0/construct.json", R"({"Functional.relu.0.forward": "Module.a.Net.forward.0"})");
  candidate.write(
      "step0/rank0/construct.json",
      R"({"Functional.relu.0.forward": "Module.b.Net.forward.0", "Tensor.to.0.forward": "Module.b.Net.forward.0"})");
  const ModuleTree tree = ModuleTree::of(index_of(reference), index_of(candidate));
  CHECK(tree.parent_of("Functional.relu.0.forward") == "Module.a.Net.forward.0");
  CHECK(tree.parent_of("Tensor.to.0.forward") == "Module.b.Net.forward.0");
}

TEST_CASE("without a construct.json there is neither a tree nor a problem") {
  const test::ScratchDir scratch;
  scratch.write("step0/rank0/dump.json", kDump);
  const ModuleTree tree = ModuleTree::of(index_of(scratch));
  CHECK(tree.empty());
  CHECK(tree.problems().empty());
}

TEST_CASE("a construct.json that cannot be read is a problem with its path") {
  const test::ScratchDir scratch;
  scratch.write("step0/rank0/dump.json", kDump);
  scratch.write("step0/rank0/construct.json", "{\"Functional.relu.0.forward\":");
  const ModuleTree tree = ModuleTree::of(index_of(scratch));
  REQUIRE(tree.problems().size() == 1);
  CHECK(tree.problems()[0].path.ends_with("construct.json"));
}

}  // namespace msdump
