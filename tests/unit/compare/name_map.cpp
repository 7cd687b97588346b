#include "compare/match/rename/name_map.h"

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

NameMap map_read_from(std::string_view text) {
  auto content = parse_name_map(text, {});
  if (!content) FAIL(content.error().message);
  return NameMap(std::move(*content));
}

// "nothing" where the map says nothing, "none" for no partner.
std::string op(const NameMap& map, std::string_view name) {
  const auto partner = map.reference_of(name);
  if (!partner) return "nothing";
  return partner->empty() ? "none" : *partner;
}

std::string tensor(const NameMap& map, std::string_view name, Io io, std::string_view slot) {
  const auto partner = map.reference_of(name, io, slot);
  if (!partner) return "nothing";
  return partner->op_name.empty() ? "none"
                                  : fmt::format("{}:{}:{}", partner->op_name, name_of(partner->io), partner->slot);
}

std::string map_error(std::string_view text) {
  const auto content = parse_name_map(text, {});
  return content ? "none" : content.error().message;
}

TEST_CASE("two columns of names map operators, and their tensors with them") {
  const NameMap map = map_read_from(
      "# by hand\nCandidate, Reference\n\n"
      "Default/a/Conv2D-op1, Default/b/Conv2D-op7\r\n"
      "\"with, comma\" , \"with \"\"quotes\"\"\"\n"
      "gone,N/A\n");
  CHECK(map.kind() == NameMapKind::kCsv);
  CHECK(op(map, "Default/a/Conv2D-op1") == "Default/b/Conv2D-op7");
  CHECK(op(map, "Default_a_Conv2D-op1") == "Default/b/Conv2D-op7");
  CHECK(op(map, "with, comma") == "with \"quotes\"");
  CHECK(op(map, "gone") == "none");
  CHECK(op(map, "other") == "nothing");
  CHECK(op(map, "Candidate") == "nothing");
  CHECK(tensor(map, "Default/a/Conv2D-op1", Io::kInput, "1") == "Default/b/Conv2D-op7:input:1");
  CHECK(tensor(map, "gone", Io::kInput, "1") == "none");
  CHECK(tensor(map, "other", Io::kInput, "1") == "nothing");
  CHECK(map.operators().size() == 3);
}

TEST_CASE("path rules rename, and map nothing") {
  const NameMap map = map_read_from("# layers\nblocks=layers\n");
  CHECK(map.kind() == NameMapKind::kPaths);
  CHECK(name_of(map.kind()) == "path rules");
  CHECK(map.renames());
  CHECK(map.path_renamed("Module.blocks.0") == "Module.layers.0");
  CHECK(op(map, "Module.blocks.0") == "nothing");
  CHECK(map_error("blocks=layers\nblocks\n") == "line 2: 'blocks' has no '='");
  CHECK_FALSE(map_read_from("a,b=c\n").renames());
}

TEST_CASE("a tensor that is named itself comes before its operator") {
  const NameMap map = map_read_from(
      "a,b\n"  // a header: operators may be called otherwise
      "x:output:0,y:output:1\nx:input:0,y:input:0\nx:input:1,N/A\n"
      "Functional.f.0.forward.input.0.1,Torch.g.0.forward.input.2.npy\n"
      "s:output:0,t:output:0\ns:output:1,u:output:0\n");
  CHECK(tensor(map, "x", Io::kOutput, "0") == "y:output:1");
  for (const Io io : kIos) {
    const std::string name(name_of(io));
    CHECK(tensor(map_read_from("v:" + name + ":0,w:" + name + ":2\n"), "v", io, "0") == "w:" + name + ":2");
  }
  CHECK(tensor(map, "x", Io::kInput, "1") == "none");
  CHECK(tensor(map, "x", Io::kOutput, "5") == "y:output:5");
  CHECK(op(map, "x") == "y");
  CHECK(tensor(map, "Functional.f.0.forward", Io::kInput, "0.1") == "Torch.g.0.forward:input:2");
  CHECK(op(map, "s") == "nothing");
  CHECK(op(map, "a") == "nothing");
}

TEST_CASE("lines that are not a pair of names are refused with their number") {
  CHECK(map_error("a,x\n\nb,c,d\n") == "line 3: 3 columns; expected 2");
  CHECK(map_error("p,q\nr\n") == "line 2: 1 columns; expected 2");
  CHECK(map_error("p,\n") == "line 1: a name is missing; 'N/A' says that there is none");
  CHECK(map_error("p,q\n\"r,s\n") == "line 2: a quote is not closed");
  CHECK(map_error("p,\"q\"r\n") == "line 1: text after a closing quote");
  CHECK(map_error("p,q\nr,s\np,t\n") == "line 3: p is t here and q on line 1");
  CHECK(map_error("p,q\np,q\n") == "none");
  CHECK(map_error("p:output:0,q\n") == "line 1: p:output:0 is a tensor and q is an operator");
  CHECK(map_error("p,q:output:0\n") == "line 1: p is an operator and q:output:0 is a tensor");
  CHECK(map_error("") == "line 1: expected two columns of names, or one of msprobe's mappings in YAML");
  CHECK(map_error("one name") == "line 1: expected two columns of names, or one of msprobe's mappings in YAML");
  CHECK(parse_name_map(std::string((16 << 20) + 1, 'x'), {}).error().code == ErrorCode::kTooLarge);
}

TEST_CASE("msprobe's data mapping maps items") {
  const NameMap map = map_read_from(
      "Functional.relu.0.forward.input.0: Functional.relu.1.forward.input.0\n"
      "Cell.ln.LayerNorm.forward.0.parameters.gamma: Module.ln.LayerNorm.forward.0.parameters.weight\n"
      "Cell.ln.LayerNorm.forward.0.output.0: N/A\n"
      "Tensor.__add__.0.forward: Tensor.add.0.forward\n");
  CHECK(map.kind() == NameMapKind::kData);
  CHECK(tensor(map, "Cell.ln.LayerNorm.forward.0", Io::kParameter, "gamma") ==
        "Module.ln.LayerNorm.forward.0:parameter:weight");
  CHECK(tensor(map, "Cell.ln.LayerNorm.forward.0", Io::kOutput, "0") == "none");
  CHECK(op(map, "Functional.relu.0.forward") == "Functional.relu.1.forward");
  CHECK(op(map, "Cell.ln.LayerNorm.forward.0") == "Module.ln.LayerNorm.forward.0");
  CHECK(tensor(map, "Tensor.__add__.0.forward", Io::kOutput, "0") == "Tensor.add.0.forward:output:0");
}

TEST_CASE("msprobe's cell mapping renames cells, whole or in parts, and nothing else") {
  const NameMap map = map_read_from("attn.q.Dense: attn.q.Linear\nDense: Linear\n");
  CHECK(map.kind() == NameMapKind::kCell);
  CHECK(op(map, "Cell.attn.q.Dense.forward.0") == "Module.attn.q.Linear.forward.0");
  CHECK(op(map, "Cell.fc.Dense.backward.2") == "Module.fc.Linear.backward.2");
  CHECK(op(map, "Cell.fc.Dense.parameters_grad.0") == "Module.fc.Linear.parameters_grad.0");
  CHECK(op(map, "Cell.fc.Dense.parameters_grad") == "Module.fc.Linear.parameters_grad");
  CHECK(tensor(map, "Cell.fc.Dense.forward.0", Io::kParameter, "weight") ==
        "Module.fc.Linear.forward.0:parameter:weight");
  CHECK(op(map, "Functional.Dense.0.forward") == "nothing");
  CHECK(map_error("a.Dense: b.Linear\nF.f.0.forward.input.0: x") ==
        "line 2: F.f.0.forward.input.0 does not belong into a cell mapping");
  CHECK(map_error("a.Dense: b.Linear\nc.Dense:\n") == "line 2: c.Dense is not mapped to a name");
}

TEST_CASE("msprobe's api mapping renames calls and pairs their slots, with either word for outputs") {
  for (const char* outputs : {"output", "outputs"}) {
    const NameMap map = map_read_from(
        fmt::format("- {{ms_api: Functional.softmax, pt_api: Torch.soft, ms_args: [0, axis], pt_args: [1, dim], "
                    "ms_{0}: [0], pt_{0}: [2]}}\n"
                    "- {{ms_api: Primitive.layer_norm, pt_api: Functional.layer_norm}}\n",
                    outputs));
    CHECK(map.kind() == NameMapKind::kApi);
    CHECK(op(map, "Functional.softmax.3.forward") == "Torch.soft.3.forward");
    CHECK(tensor(map, "Functional.softmax.3.forward", Io::kInput, "axis") == "Torch.soft.3.forward:input:dim");
    CHECK(tensor(map, "Functional.softmax.3.forward", Io::kInput, "0.4") == "Torch.soft.3.forward:input:1.4");
    CHECK(tensor(map, "Functional.softmax.3.forward", Io::kInput, "1") == "none");
    CHECK(tensor(map, "Functional.softmax.3.forward", Io::kOutput, "0") == "Torch.soft.3.forward:output:2");
    CHECK(op(map, "Primitive.layer_norm.LayerNorm.0.forward") == "Functional.layer_norm.0.forward");
    CHECK(tensor(map, "Primitive.layer_norm.LayerNorm.0.forward", Io::kInput, "1") ==
          "Functional.layer_norm.0.forward:input:1");
    CHECK(op(map, "Functional.matmul.0.forward") == "Torch.matmul.0.forward");  // msprobe's table
    CHECK(op(map, "Functional.softmaxx.0.forward") == "nothing");
    CHECK(op(map, "noname") == "nothing");
  }
  CHECK(map_error("- ms_api: a.b\n  pt_api: c.d\n- ms_api: e.f\n") == "line 3: an api mapping without pt_api");
  CHECK(map_error("- x\n") == "line 1: an api mapping without ms_api");
  CHECK(map_error("- {ms_api: a.b, pt_api: c.d, ms_args: [0], pt_args: [0, 1]}") ==
        "line 1: ms_args and pt_args of a.b are not lists of the same length");
  CHECK(map_error("- {ms_api: a.b, pt_api: c.d, ms_args: [0]}") ==
        "line 1: ms_args and pt_args of a.b are not lists of the same length");
}

// A dump.json of level mix with one module and its output.
std::string write_dump(const test::ScratchDir& scratch, const std::string& folder, const std::string& module) {
  const std::string entry = module + ".forward.0";
  scratch.write(folder + "/construct.json", "{\"" + entry + "\": null}");
  scratch.write(folder + "/stack.json", R"({"0": [[")" + entry + R"("], ["File a.py, line 1, in f"]]})");
  return scratch.write(folder + "/dump.json",
                       R"({"task": "tensor", "level": "mix", "framework": "mindspore", "data": {")" + entry +
                           R"(": {"input_args": [], "input_kwargs": {}, "output": [{"type": "mindspore.Tensor", )"
                           R"("dtype": "Float32", "shape": [2], "data_name": ")" +
                           entry + R"(.output.0.npy"}]}}})");
}

TEST_CASE("msprobe's layer mapping becomes one of tensors by way of both dumps") {
  const test::ScratchDir scratch;
  const NameMapDumps dumps{
      {{write_dump(scratch, "a", "Cell.fc.Dense"), write_dump(scratch, "b", "Module.head.Linear")}}};
  const std::string path = scratch.write("map.yaml", "TopLayer:\n  fc: head\n");
  const auto map = NameMap::read(path, dumps);
  if (!map) FAIL(map.error().message);
  CHECK(map->kind() == NameMapKind::kLayers);
  CHECK(op(*map, "Cell.fc.Dense.forward.0") == "Module.head.Linear.forward.0");
  const auto other = NameMap::read(scratch.write("other.yaml", "TopLayer: {x: y}\n"), dumps);
  REQUIRE_FALSE(other);
  CHECK(other.error().message == "the mapping of layers matches nothing in these dumps");
  const auto alone = NameMap::read(path);
  REQUIRE_FALSE(alone);
  CHECK(alone.error().message == "a mapping of layers needs a dump.json on both sides");
  CHECK(alone.error().path == path);
  CHECK(map_error("Top: {a: b}\nNext: c\n") == "line 2: Next has no 'layer: layer' lines");
  CHECK(map_error("Top:\n  a: b\n  c: [d]\n") == "line 3: c is not mapped to a layer");
}

TEST_CASE("lines of YAML are counted after letters of several bytes too") {
  CHECK(map_error("\xE7\xBD\x91\xE7\xBB\x9C.Dense: a\n\xE7\xBD\x91.Dense: b\nc:\n") ==
        "line 3: c is not mapped to a name");
}

}  // namespace
}  // namespace msdump
