#include "dump/names/dumper_name.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/pt_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

// "rank step name io slot @index", "-" for what is not there.
std::string read(std::string_view stem) {
  const auto name = parse_dumper_name(stem);
  if (!name) return "none";
  const auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "-"; };
  return fmt::format("{} {} {} {} {} @{}", number(name->rank), number(name->step), name->op_name, name_of(name->io),
                     name->slot.empty() ? "-" : name->slot, name->index);
}

TEST_CASE("the dumper's tags are read in any order, and the layer is part of the name") {
  const std::string expected = "1 3 layers.2.attn_out output - @17";
  CHECK(read("step=3___rank=1___dump_index=17___name=attn_out___layer_id=2") == expected);
  CHECK(read("layer_id=2___name=attn_out___dump_index=17___rank=1___forward_pass_id=3") == expected);
  CHECK(read("step=3___rank=1___dump_index=17___name=attn_out___recompute_status=disabled___layer_id=2") == expected);
  CHECK(read("step=3___rank=1___dump_index=17___name=attn_out___layer_id=2___pp_rank=0___tp_rank=1") == expected);
  CHECK(read("forward_pass_id=1___rank=0___name=logits___dump_index=8") == "0 1 logits output - @8");
  CHECK(read("step=0___rank=0___dump_index=1___name=attn__qkv___x___layer_id=0") ==
        "0 0 layers.0.attn__qkv___x output - @1");
}

TEST_CASE("other tags of the dumper tell tensors of one name apart") {
  CHECK(read("step=0___rank=0___dump_index=5___name=h___micro_batch=1___layer_id=0___cp=[0, 1]") ==
        "0 0 layers.0.h.cp=[0, 1].micro_batch=1 output - @5");
  CHECK(read("step=0___rank=0___dump_index=5___name=h___recompute_status=recompute") ==
        "0 0 h.recompute_status=recompute output - @5");
  CHECK(read("step=0___rank=0___dump_index=5___name=grad__h___layer_id=0") == "0 0 layers.0.grad__h output - @5");
}

TEST_CASE("the dumper's hooks name the module, io and slot; parameters are parameters") {
  const std::string tags = "step=0___rank=0___dump_index=5___name=", layer = "___layer_id=1";
  CHECK(read(tags + "non_intrusive__model.layers.1.mlp.inputs.0" + layer) == "0 0 model.layers.1.mlp input 0 @5");
  CHECK(read(tags + "non_intrusive__model.layers.1.mlp.output" + layer) == "0 0 model.layers.1.mlp output 0 @5");
  CHECK(read(tags + "non_intrusive__model.layers.1.output.output.1") == "0 0 model.layers.1.output output 1 @5");
  CHECK(read(tags + "non_intrusive__inputs.mask") == "0 0 root input mask @5");
  CHECK(read(tags + "non_intrusive__model.x" + layer) == "0 0 model.x output - @5");
  CHECK(read(tags + "param__model.norm.weight") == "0 0 model.norm.weight parameter - @5");
}

TEST_CASE("names that are not the dumper's, and hostile ones") {
  for (const char* stem :
       {"", "___", "name=a", "name=a___lr=0.1", "attn___name=a___rank=0", "rank=0___step=1", "name=___rank=0",
        "rank=0___name=a___rank=1", "rank=-1___name=a", "rank=99999999999999999999___name=a", "step=x___name=a",
        "step=1___forward_pass_id=", "0=1___name=a___rank=0"}) {
    CAPTURE(stem);
    CHECK(read(stem) == "none");
  }
  CHECK(read("rank=0___name=a___") == "0 - a___ output - @");
  CHECK(read("rank=0___name=a___layer_id=x") == "0 - a.layer_id=x output - @");
}

std::string wrapped() {
  using namespace test::pickle;
  return test::build_pt(
      {.pickle = whole(dict({{text("value"), test::tensor_call()},
                             {text("meta"), dict({{text("name"), text("h")}, {text("t"), test::tensor_call()}})}}))});
}

TEST_CASE("files of SGLang's dumper are tensors of operators, of the rank and step in their names") {
  const test::ScratchDir scratch;
  const std::string folder = "dump_20261128_070000_123456/";
  scratch.write(folder + "step=1___rank=0___dump_index=9___name=h___layer_id=0.pt", test::build_pt());
  scratch.write(folder + "step=0___rank=1___dump_index=1___name=h___layer_id=0.pt", wrapped());
  scratch.write(folder + "step=0___rank=0___dump_index=10___name=h___layer_id=0.pt", wrapped());
  scratch.write(folder + "step=0___rank=0___dump_index=2___name=h___layer_id=0.pt", wrapped());
  const test::ListedDump dump = test::list_dump({scratch.path()});
  CHECK(framework_of(dump.index).framework == "SGLang's dumper");
  CHECK(dump.list.failures().empty());
  std::string rows;
  for (const TensorRecord& tensor : dump.tensors()) {
    const Identity identity = identity_of(dump.index, tensor);
    rows += fmt::format("{} {} {} {}:{} #{} ", *identity.rank, *identity.step, identity.name.op_name,
                        name_of(identity.name.io), identity.name.slot, identity.occurrence);
  }
  CHECK(rows ==
        "0 0 layers.0.h output:0 #0 0 0 layers.0.h output:0 #1 0 1 layers.0.h output:0 #0 1 0 layers.0.h output:0 #0 ");
}

TEST_CASE("files of msit are inputs, outputs and parameters of modules, from any level of the tree") {
  const test::ScratchDir scratch;
  const std::string token = "torch_tensors/npu1_4321/2", module = "/root.model.layers.0.mlp/";
  for (const char* name : {"input_0", "output", "output_0_1", "weight", "input_scale"})
    scratch.write(token + module + name + ".pth", test::build_pt());
  for (const char* level : {"", "torch_tensors", "torch_tensors/npu1_4321/2"}) {
    const test::ListedDump dump = test::list_dump({scratch.path() / level});
    CHECK(framework_of(dump.index).framework == "msit");
    std::string rows;
    for (const TensorRecord& tensor : dump.tensors()) {
      const Identity identity = identity_of(dump.index, tensor);
      CHECK(identity.rank == 1);
      CHECK(identity.step == 2);
      CHECK(identity.name.op_name == "model.layers.0.mlp");
      rows += fmt::format("{}:{} ", name_of(identity.name.io), identity.name.slot);
    }
    CHECK(rows == "input:0 output:0 output:0.1 parameter:input_scale parameter:weight ");
  }
}

}  // namespace
}  // namespace msdump
