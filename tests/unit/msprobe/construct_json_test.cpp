#include "msprobe/construct_json.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Strings = std::vector<std::string>;

Result<ConstructJson> try_construct(const std::string& text, const ConstructJsonLimits& limits = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("construct.json", text));
  REQUIRE(file);
  auto result = read_construct_json(*file, limits);
  if (!result) CHECK(result.error().path == file->path());
  return result;
}

ConstructJson construct(const std::string& text) {
  auto result = try_construct(text);
  if (result) return std::move(*result);
  FAIL(result.error().message);
  return {};
}

// "NODE<PARENT", with Megatron "NODE<PARENT@MICRO_STEP".
Strings nodes(const ConstructJson& json) {
  Strings all;
  for (const auto& node : json.nodes) {
    all.push_back(std::string(node.name) + "<" + std::string(node.parent) +
                  (node.micro_step ? "@" + std::to_string(*node.micro_step) : ""));
  }
  return all;
}

TEST_CASE("the parents of calls and modules are read in the order of the file") {
  const std::string text = R"({
 "Functional.linear.0.forward": "Module.fc.Linear.forward.0",
 "Module.fc.Linear.forward.0": null,
 "optimizer": null,
 "Tensor.add_.0.forward": "optimizer"
})";
  const ConstructJson json = construct(text);
  CHECK(nodes(json) == Strings{"Functional.linear.0.forward<Module.fc.Linear.forward.0", "Module.fc.Linear.forward.0<",
                               "optimizer<", "Tensor.add_.0.forward<optimizer"});
  CHECK(json.entries == 4);
  CHECK_FALSE(json.micro_steps);
  const ConstructJson::Node* node = json.find("Module.fc.Linear.forward.0");
  REQUIRE(node != nullptr);
  CHECK(node->offset == text.find("null"));
  CHECK(json.find("Module.fc.Linear.forward.1") == nullptr);
}

TEST_CASE("level L1 has no parents, and before 2025 the top is an empty text") {
  CHECK(construct("{}").nodes.empty());
  CHECK(nodes(construct(R"({"a":""})")) == Strings{"a<"});
}

TEST_CASE("with Megatron each node has a micro step, 0 where none is written") {
  const std::string member = R"("megatron_micro_step_number": 2)";
  const std::string rest = R"("a": ["m", 1], "b": [null, 2], "c": "m", "d": null)";
  for (const std::string& text : {"{" + member + "," + rest + "}", "{" + rest + "," + member + "}"}) {
    const ConstructJson json = construct(text);
    CHECK(json.micro_steps == 2);
    CHECK(nodes(json) == Strings{"a<m@1", "b<@2", "c<m@0", "d<@0"});
    CHECK(json.entries == 5);
    CHECK(json.problems.empty());
  }
  CHECK(nodes(construct(R"({"a":["m",1],"b":"m"})")) == Strings{"a<m@1", "b<m"});
}

TEST_CASE("of two parents of one node the later one counts, at the place of the earlier") {
  const std::string call = "Functional.linear.0.forward", other = "Functional.linear.1.forward",
                    last = "Functional.linear.2.forward";
  CHECK(nodes(construct("{\"" + call + R"(":"m",")" + other + R"(":"m",")" + call + R"(":"n",")" + last +
                        R"(":"o"})")) == Strings{call + "<n", other + "<m", last + "<o"});
}

TEST_CASE("a parent that is not understood is a problem with its place, and the rest is read") {
  struct Fault {
    std::string entry, message;
  };
  const auto fault = GENERATE(values<Fault>({
      {R"("x":7)", "line 2, column 6: x: the name of the parent is not a string"},
      {R"("x":{})", "line 2, column 6: x: the name of the parent is not a string"},
      {R"("x":[])", "line 2, column 6: x: expected [parent, micro step]"},
      {R"("x":["m",1,2])", "line 2, column 6: x: expected [parent, micro step]"},
      {R"("x":["m",null])", "line 2, column 11: x: the micro step is not a whole number"},
      {R"("x":["m",1.5])", "line 2, column 11: x: the micro step is not a whole number"},
      {R"("x":[true,1])", "line 2, column 7: x: the name of the parent is not a string"},
      {R"("megatron_micro_step_number":"1")", "line 2, column 31: megatron_micro_step_number: expected a whole number"},
  }));
  const ConstructJson json = construct("{\"a\":\"m\",\n " + fault.entry + ",\"b\":null}");
  CHECK(nodes(json) == Strings{"a<m", "b<"});
  CHECK(json.problems.count() == 1);
  REQUIRE(json.problems.size() == 1);
  CHECK(json.problems[0].message == fault.message);
  CHECK(json.problems[0].code == ErrorCode::kBadJson);
  CHECK_FALSE(json.problems[0].path.empty());
}

TEST_CASE("text that is not an object is refused with its place, and so is a construct.json cut anywhere") {
  const std::string text = R"({"a":"m","b":["m",1],"m":null})";
  CHECK(construct(text).nodes.size() == 3);
  for (size_t length = 0; length < text.size(); ++length) {
    INFO(length);
    const auto result = try_construct(text.substr(0, length));
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kBadJson);
    CHECK(result.error().message.starts_with("line 1, column "));
  }
  CHECK_FALSE(try_construct("[]"));
  CHECK_FALSE(try_construct(text + "x"));
}

TEST_CASE("limits hold against a construct.json made to exhaust memory") {
  const auto too_large = [](const Result<ConstructJson>& result) {
    return !result && result.error().code == ErrorCode::kTooLarge;
  };
  const std::string text = R"({"a":"m","b":"n"})";
  CHECK(too_large(try_construct(text, {.text = text.size() - 1})));
  CHECK(too_large(try_construct(text, {.kept = 400})));
  CHECK(try_construct(text, {.kept = 1000}));
  SECTION("of the parents of one node") {
    std::string again = R"({"a":"0")";
    for (int i = 1; i < 100; ++i) again += R"(,"a":")" + std::to_string(i) + '"';
    CHECK(too_large(try_construct(again + "}", {.kept = 5000})));
  }
  SECTION("of one value") {
    const auto result = try_construct(R"({"a":")" + std::string(100, 'm') + R"(","b":null})", {.entry = 50});
    REQUIRE(result);
    CHECK(nodes(*result) == Strings{"b<"});
    REQUIRE(result->problems.size() == 1);
    CHECK(result->problems[0].code == ErrorCode::kTooLarge);
  }
}

}  // namespace
}  // namespace msdump
