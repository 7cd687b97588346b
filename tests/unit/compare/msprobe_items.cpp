#include "compare/match/msprobe/msprobe_items.h"

#include <fmt/format.h>

#include "support/catch.h"
#include "support/growth.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Strings = std::vector<std::string>;

Result<MsprobeItems> try_read(const std::string& text, const MsprobeItemForm& form = {},
                              const MsprobeItemLimits& limits = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("dump.json", text));
  REQUIRE(file);
  return read_msprobe_items(*file, form, limits);
}

MsprobeItems read(const std::string& data, const MsprobeItemForm& form = {}) {
  auto items = try_read(R"({"task": "tensor", "framework": "pytorch", "data": {)" + data + "}}", form);
  if (items) return std::move(*items);
  FAIL(items.error().message);
  return {};
}

Strings names(const MsprobeItems& items) {
  Strings all;
  for (const MsprobeItem& item : items.items) all.push_back(item.name);
  return all;
}

Strings keys(const MsprobeItems& items) {
  Strings all;
  for (const MsprobeItem& item : items.items) all.push_back(item.key);
  return all;
}

// "DTYPE SHAPE MAX CHECKSUM" of the only item.
std::string only(const std::string& leaf, const std::string& entry = "T.f.0.forward") {
  const MsprobeItems items = read("\"" + entry + R"(": {"input_args": [)" + leaf + "]}");
  REQUIRE(items.items.size() == 1);
  const MsprobeItem& item = items.items[0];
  return fmt::format("{} {} {} {}", item.dtype.value_or("-"), item.shape.value_or("-"), item.statistics[0].text,
                     item.checksum.value_or("-"));
}

constexpr std::string_view kLeaf = R"({"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2, 3],
  "Max": 1.50, "Min": -1, "Mean": null, "Norm": NaN, "requires_grad": true})";
std::string leaf_json() { return std::string(kLeaf); }

TEST_CASE("a tensor has the texts that the result file prints") {
  const MsprobeItems items = read(R"("T.f.0.forward": {"input_args": [)" + leaf_json() + "]}");
  CHECK(items.task == "tensor");
  CHECK(items.framework == "pytorch");
  REQUIRE(items.items.size() == 1);
  const MsprobeItem& item = items.items[0];
  CHECK(item.name == "T.f.0.forward.input.0");
  CHECK(item.dtype == "torch.float32");
  CHECK(item.shape == "[2, 3]");
  CHECK(item.statistics[0].text == "1.5");
  CHECK(item.statistics[0].kind == PythonKind::kFloat);
  CHECK(item.statistics[1].kind == PythonKind::kInt);
  CHECK(item.statistics[2].is_text("None"));
  CHECK(item.statistics[3].is_text("Nan"));
  CHECK(item.requires_grad == "True");
  CHECK(item.checksum == "00000000");
  CHECK(item.data_name == "-1");
  CHECK(item.first_of_entry);
}

TEST_CASE("inputs, parameters, outputs and gradients come in msprobe's order") {
  const std::string entry = R"("M.fc.L.forward.0": {"output": [)" + leaf_json() + R"(, [)" + leaf_json() +
                            R"(]], "parameters": {"w": )" + leaf_json() + R"(}, "input_kwargs": {"k": )" + leaf_json() +
                            R"(}, "input_args": [)" + leaf_json() + "]}";
  CHECK(names(read(entry)) == Strings{"M.fc.L.forward.0.input.0", "M.fc.L.forward.0.input.k",
                                      "M.fc.L.forward.0.parameters.w", "M.fc.L.forward.0.output.0",
                                      "M.fc.L.forward.0.output.1.0"});
  CHECK(names(read(R"("M.fc.L.parameters_grad.0": {"w": [)" + leaf_json() + R"(], "b": [)" + leaf_json() + "]}")) ==
        Strings{"M.fc.L.parameters_grad.0.w", "M.fc.L.parameters_grad.0.b"});
  CHECK(names(read(R"("x.0.debug": {"a": )" + leaf_json() + "}", {.debug_json = true})) == Strings{"x.0.debug.a"});
}

TEST_CASE("empty values are not items, and null is an item") {
  CHECK(names(read(R"("T.f.0.forward": {"input_args": [[], {}, "", 0, false], "output": null})")) ==
        Strings{"T.f.0.forward.output"});
  CHECK(only("null") == "- - None -");
}

TEST_CASE("values without a dtype show their Python class and themselves") {
  CHECK(only(R"({"type": "int", "value": 40})") == "<class 'int'> [] 40 dc2ad1a4");
  CHECK(only(R"({"type": "float", "value": 2.0})") == "<class 'float'> [] 2.0 f570d16c");
  CHECK(only(R"({"type": "bool", "value": true})") == "<class 'bool'> [] True 5dcee3b3");
  CHECK(only(R"({"type": "str", "value": "sum"})") == "<class 'str'> [] sum c8bd9f4d");
  CHECK(only(R"({"type": "NoneType", "value": null})") == "<class 'NoneType'> [] None dfa2aff1");
  CHECK(only(R"({"type": "slice", "value": [0, 4, null]})") == "slice (3,) None 0c6f4c29");
  CHECK(only(R"({"type": "torch.Size", "value": [2, 3]})") == "torch.Size [2, 3] None 3f72ac6e");
  CHECK(only(R"({"type": "ellipsis", "value": "..."})") == "ellipsis [] ... 1a43b61b");
  CHECK(only(R"({"type": "torch.ProcessGroup", "group_ranks": [0, 1]})") == "torch.ProcessGroup [] [0, 1] [0, 1]");
  CHECK(only(R"({"type": "torch.dtype", "value": "torch.float64"})").starts_with("<class 'str'> [] torch.float64 "));
}

TEST_CASE("the ranks of sends and receives are compared as texts") {
  const MsprobeItems items =
      read(R"("Distributed.send.0.forward": {"input_kwargs": {"dst": {"type": "int", "value": 1}}})");
  REQUIRE(items.items.size() == 1);
  CHECK(items.items[0].dtype == "int");
  CHECK(items.items[0].statistics[0].is_text("1"));
  CHECK(items.items[0].checksum == "1");
  const MsprobeItems pair =
      read(R"("T.f.0.forward": {"input_args": [{"class_type": "torch.distributed.P2POp", "tensor": )" + leaf_json() +
           R"(, "op": "isend"}]})");
  CHECK(names(pair) == Strings{"T.f.0.forward.input.0"});
}

TEST_CASE("a data file gives its item the name") {
  const MsprobeItems items = read(R"("T.f.0.forward": {"output": [{"type": "torch.Tensor", "dtype": "torch.int64",
    "shape": [], "data_name": "T.f.0.forward.output.0.pt", "md5": "9331d5e6"}]})");
  REQUIRE(items.items.size() == 1);
  CHECK(items.items[0].name == "T.f.0.forward.output.0");
  CHECK(items.items[0].data_name == "T.f.0.forward.output.0.pt");
  CHECK(items.items[0].checksum == "9331d5e6");
  CHECK(items.items[0].statistics[0].is_text("None"));
}

TEST_CASE("a member that is null is as good as missing") {
  CHECK(only(R"({"type": "torch.Tensor", "dtype": "torch.int8", "shape": null, "md5": null, "data_name": null})") ==
        "torch.int8 - None 00000000");
  CHECK(only(R"({"type": "int", "dtype": null, "value": 3})") == only(R"({"type": "int", "value": 3})"));
  CHECK(only(R"({"type": "torch.Size"})") == "torch.Size None None 00000000");
  CHECK(only(R"({"type": "slice", "value": 7})").starts_with("slice () None "));
}

TEST_CASE("backward calls are counted again in the order of the file") {
  const std::string body = R"(: {"input": [)" + leaf_json() + "]}";
  const std::string data = "\"T.f.1.backward\"" + body + ", \"T.f.0.backward\"" + body + ", \"M.a.L.backward.3\"" +
                           body + ", \"T.f.7.forward\"" + body;
  CHECK(keys(read(data)) == Strings{"T.f.0.backward.input.0", "T.f.1.backward.input.0", "M.a.L.backward.0.input.0",
                                    "T.f.7.forward.input.0"});
  CHECK(keys(read(data, {.fuzzy = true})) == names(read(data)));
}

TEST_CASE("entries whose names are not those of calls have no items, but keep their place") {
  const MsprobeItems items =
      read(R"("odd": {"input": [)" + leaf_json() + R"(]}, "T.f.0.forward": {"input": [)" + leaf_json() + "]}");
  CHECK(items.entries == Strings{"odd", "T.f.0.forward"});
  CHECK(names(items) == Strings{"T.f.0.forward.input.0"});
  CHECK(items.items[0].entry == 1);
}

TEST_CASE("of two entries or members of one name the later value counts, at the place of the earlier") {
  const MsprobeItems items = read(R"("T.f.0.forward": {"input_args": [null]}, "T.g.0.forward": {"input_args": [null]},
    "T.f.0.forward": {"input_kwargs": {"a": null, "b": null, "a": {"type": "int", "value": 7}}})");
  CHECK(names(items) == Strings{"T.f.0.forward.input.a", "T.f.0.forward.input.b", "T.g.0.forward.input.0"});
  CHECK(items.items[0].statistics[0].text == "7");
}

TEST_CASE("checksums are seen where msprobe looks for them") {
  const std::string with = R"({"type": "torch.Tensor", "dtype": "torch.int8", "shape": [], "md5": null})";
  CHECK(read(R"("T.f.0.forward": {"input_args": [)" + with + "]}").has_checksums);
  CHECK_FALSE(read(R"("T.f.0.forward": {"input_args": [[)" + with + "]]}").has_checksums);
  CHECK_FALSE(read(R"("T.f.0.forward": {"input_args": [)" + leaf_json() + "]}").has_checksums);
  CHECK(read(R"("x.0.debug": {"a": [)" + with + "]}", {.debug_json = true}).has_checksums);
}

TEST_CASE("a file that is not a dump.json is refused with its place") {
  CHECK(try_read("{}").error().message == "line 1, column 1: no \"data\": this is not a dump.json of msprobe");
  CHECK(try_read(R"({"data": []})").error().message == "line 1, column 10: \"data\" is not an object");
  CHECK_FALSE(try_read(R"({"data": {}} x)"));
  CHECK_FALSE(try_read(R"({"data": {"a": })"));
  CHECK(try_read(R"({"data": {}})")->framework == "pytorch");
}

TEST_CASE("limits hold against a dump.json made to exhaust memory") {
  const std::string text = R"({"data": {"T.f.0.forward": {"input_args": [null, null]}}})";
  CHECK(try_read(text, {}, {.text = 10}).error().code == ErrorCode::kTooLarge);
  CHECK(try_read(text, {}, {.kept = 100}).error().code == ErrorCode::kTooLarge);
  const auto items = try_read(text, {}, {.entry = 10});
  REQUIRE(items);
  CHECK(items->problems.size() == 1);
  CHECK(items->items.empty());
  const std::string key(5000, 'k');
  const auto named = try_read(R"({"data": {"T.f.0.forward": {"input_kwargs": {")" + key + R"(": null}}}})");
  REQUIRE(named);
  REQUIRE(named->problems.size() == 1);
  CHECK(named->problems[0].code == ErrorCode::kTooLarge);
}

TEST_CASE("the task and the framework are bounded like an entry, wherever they stand") {
  const std::string data = R"({"data": {}, )";
  const auto fits = try_read(data + R"("task": "statistics", "level": "L1", "framework": "x"})", {}, {.entry = 12});
  REQUIRE(fits);
  CHECK(fits->task == "statistics");
  CHECK(fits->framework == "x");
  const auto refused = try_read(data + R"("task": "statistics!"})", {}, {.entry = 12});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the value of \"task\" takes 13 bytes");
  CHECK(refused.error().offset == 21);
}

TEST_CASE("the cost of an argument that is a dict grows with its keys, not with their square") {
  const auto make = [](size_t count) {
    std::string text = R"("T.f.0.forward": {"input_kwargs": {"k": {)";
    for (size_t i = 0; i < count; ++i) text += fmt::format(R"({}"k{}": null)", i == 0 ? "" : ", ", i);
    return text + "}}}";
  };
  CHECK(test::growth(500, make, [](const std::string& text) { read(text); }) < test::kNotQuadratic);
}

TEST_CASE("stacks of both forms are printed as lists of texts") {
  const ScratchDir scratch;
  const auto text_of = [&](std::string_view text, std::string_view name) {
    const auto file = File::open(scratch.write("stack.json", text));
    REQUIRE(file);
    const auto stacks = read_stack_json(*file);
    REQUIRE(stacks);
    const StackJson::Op* const op = stacks->find(name);
    return op == nullptr ? "none" : msprobe_stack_text(*stacks, *op);
  };
  const std::string_view shared = R"({"0": [["a", "b"], ["File x, line 1, \n y"]], "1": [["c"], []]})";
  CHECK(text_of(shared, "b") == "['File x, line 1, \\n y']");
  CHECK(text_of(shared, "c") == "[]");
  CHECK(text_of(shared, "d") == "none");
  const std::string_view older = R"({"a": ["it's"], "b": null, "c": ["The call stack retrieval failed."]})";
  CHECK(text_of(older, "a") == "[\"it's\"]");
  CHECK(text_of(older, "b") == "none");
  CHECK(text_of(older, "c") == "['The call stack retrieval failed.']");
}

}  // namespace
}  // namespace msdump
