#include "msprobe/names.h"
#include "msprobe/module_path.h"

#include <string>

#include "support/catch.h"

namespace msdump {
namespace {

// "OP NAME|OP TYPE|IO|SLOT", "|UNFINISHED" after it if there is one; "none".
std::string parsed(std::string_view file_name) {
  const auto name = parse_msprobe_file_name(file_name);
  if (!name) return "none";
  std::string text(name->op_name);
  text.append("|").append(name->op_type).append("|").append(name_of(name->io)).append("|").append(name->slot);
  if (!name->unfinished.empty()) text.append("|").append(name->unfinished);
  return text;
}

TEST_CASE("files of calls have the call number before the direction") {
  CHECK(parsed("Functional.linear.0.forward.input.0.pt") == "Functional.linear.0.forward|linear|input|0");
  CHECK(parsed("Tensor.add_.12.backward.output.1.npy") == "Tensor.add_.12.backward|add_|output|1");
  CHECK(parsed("Primitive.matmul.MatMul.3.forward.input.1.npy") == "Primitive.matmul.MatMul.3.forward|MatMul|input|1");
  CHECK(parsed("Aten.add.Tensor.0.forward.output.0.pt") == "Aten.add.Tensor.0.forward|add.Tensor|output|0");
  CHECK(parsed("my_ops.fused.0.forward.output.0.pt") == "my_ops.fused.0.forward|fused|output|0");
}

TEST_CASE("files of modules have it after the direction") {
  CHECK(parsed("Cell.attn.Attention.forward.0.output.0.npy") == "Cell.attn.Attention.forward.0|Attention|output|0");
  CHECK(parsed("Module.layers.1.Layer.backward.2.input.0.pt") == "Module.layers.1.Layer.backward.2|Layer|input|0");
  CHECK(parsed("Module.0.fc1.Linear.forward.0.parameters.weight.pt") ==
        "Module.0.fc1.Linear.forward.0|Linear|parameter|weight");
  CHECK(parsed("Cell.Net.forward.0.input.0.npy") == "Cell.Net.forward.0|Net|input|0");
}

TEST_CASE("slots are numbers, names and paths of both") {
  CHECK(parsed("Functional.softmax.0.forward.input.dtype.npy") == "Functional.softmax.0.forward|softmax|input|dtype");
  CHECK(parsed("Module.enc.MHA.forward.0.kwargs.key_padding_mask.pt") ==
        "Module.enc.MHA.forward.0|MHA|input|key_padding_mask");
  CHECK(parsed("Functional.cat.0.forward.input.0.1.npy") == "Functional.cat.0.forward|cat|input|0.1");
  CHECK(parsed("Functional.f.0.forward.input.input.npy") == "Functional.f.0.forward|f|input|input");
  CHECK(parsed("Functional.f.0.forward.input.x.1.forward.output.0.npy") ==
        "Functional.f.0.forward|f|input|x.1.forward.output.0");
}

TEST_CASE("gradients of parameters are named after the parameter") {
  CHECK(parsed("Module.fc1.Linear.parameters_grad.0.weight.pt") ==
        "Module.fc1.Linear.parameters_grad.0|Linear|parameter|weight");
  CHECK(parsed("Cell.fc1.Dense.parameters_grad.bias.npy") == "Cell.fc1.Dense.parameters_grad|Dense|parameter|bias");
  CHECK(parsed("Cell.list.ParameterList.parameters_grad.0.npy") ==
        "Cell.list.ParameterList.parameters_grad|ParameterList|parameter|0");
}

TEST_CASE("saved variables may have no slot and any name") {
  CHECK(parsed("logits_grad.0.debug.npy") == "logits_grad.0.debug|logits_grad|debug|");
  CHECK(parsed("bundle.2.debug.loss.0.pt") == "bundle.2.debug|bundle|debug|loss.0");
  CHECK(parsed("a.b.0.debug.npy") == "a.b.0.debug|a.b|debug|");
  CHECK(parsed("Cell.layers.0.debug.Dense.forward.0.input.0.npy") ==
        "Cell.layers.0.debug.Dense.forward.0|Dense|input|0");
}

TEST_CASE("files of a graph part that was not finished") {
  CHECK(parsed("Cell.inner.Inner.forward.input.0_float32_0.npy") == "Cell.inner.Inner.forward|Inner|input|0|float32_0");
  CHECK(parsed("Cell.inner.Inner.backward.output.1.0_bfloat16_17.npy") ==
        "Cell.inner.Inner.backward|Inner|output|1.0|bfloat16_17");
  CHECK(parsed("Cell.inner.Inner.forward.input.my_key_float8_e4m3fn_3.npy") ==
        "Cell.inner.Inner.forward|Inner|input|my_key|float8_e4m3fn_3");
  CHECK(parsed("Cell.inner.Inner.forward.input.0_float32.npy") == "none");
  CHECK(parsed("Cell.inner.Inner.forward.input.0_quaternion_0.npy") == "none");
  CHECK(parsed("Cell.inner.Inner.forward.input._float32_0.npy") == "none");
}

TEST_CASE("other names are none of msprobe") {
  for (const std::string_view name : {"",
                                      ".npy",
                                      "..npy",
                                      "Functional.linear.0.forward.input.0",
                                      "Functional.linear.0.forward.input.0.bin",
                                      "Functional.linear.0.forward.input.npy",
                                      "Functional.linear.0.forward.input..npy",
                                      "Functional.linear.forward.input.0.npy",
                                      "Functional.linear.x.forward.input.0.npy",
                                      "Cell.forward.0.input.0.npy",
                                      "Functional.0.forward.input.0.npy",
                                      "Functional..0.forward.input.0.npy",
                                      "0.debug.npy",
                                      ".0.debug.npy",
                                      "x.debug.npy",
                                      "v.0.debug..npy",
                                      "parameters_grad.0.weight.npy",
                                      "Cell.x.parameters_grad.npy",
                                      "Add.Default_Add-op0.0.0.1733905446819790.output.0.DefaultFormat.float32.npy",
                                      "forward.input.0_float32_0.npy"}) {
    INFO(name);
    CHECK(parsed(name) == "none");
  }
  const std::string front = "Functional.", back = ".0.forward.input.0.npy",
                    longest(1024 - front.size() - back.size(), 'x');
  CHECK(parsed(front + longest + back) == front + longest + ".0.forward|" + longest + "|input|0");
  CHECK(parsed(front + longest + 'x' + back) == "none");
}

TEST_CASE("the name of a module's call has the path of the module") {
  const auto path = [](std::string_view name) { return module_path(name).value_or("none"); };
  CHECK(path("Module.model.layers.0.mlp.Mlp.forward.1") == "Module.model.layers.0.mlp");
  CHECK(path("Cell.fc.Dense.backward.0") == "Cell.fc");
  CHECK(path("Module.forward.Linear.forward.0") == "Module.forward");
  CHECK(path("model.layers.0.mlp") == "model.layers.0.mlp");  // a hook
  CHECK(path("Functional.linear.2.forward") == "none");
  CHECK(path("Module.fc.Linear.parameters_grad.1") == "none");
}

TEST_CASE("the name of a backward call gives that of its forward call") {
  const auto forward = [](std::string_view name) { return forward_entry_of(name).value_or("none"); };
  CHECK(forward("Functional.linear.2.backward") == "Functional.linear.2.forward");
  CHECK(forward("Primitive.matmul.MatMul.0.backward") == "Primitive.matmul.MatMul.0.forward");
  CHECK(forward("Module.fc.Linear.backward.3") == "Module.fc.Linear.forward.3");
  CHECK(forward("Module.backward.Linear.backward.3") == "Module.backward.Linear.forward.3");
  CHECK(forward("Module.fc.Linear.parameters_grad.1") == "Module.fc.Linear.forward.1");
  CHECK(forward("Cell.fc.Dense.parameters_grad") == "Cell.fc.Dense.forward.0");
  for (const char* name :
       {"Functional.linear.2.forward", "Module.backward.Linear.forward.3", "Tensor.backward.0.forward",
        "logits_grad.0.debug", "optimizer", ".backward", "", "linear.backward"}) {
    INFO(name);
    CHECK(forward(name) == "none");
  }
}

TEST_CASE("the name of the gradients of a module's parameters gives the backward call that makes them") {
  const auto backward = [](std::string_view name) { return backward_entry_of(name).value_or("none"); };
  CHECK(backward("Module.fc.Linear.parameters_grad.1") == "Module.fc.Linear.backward.1");
  CHECK(backward("Module.parameters_grad.Linear.parameters_grad.2") == "Module.parameters_grad.Linear.backward.2");
  CHECK(backward("Cell.fc.Dense.parameters_grad") == "Cell.fc.Dense.backward.0");
  for (const char* name : {"Module.fc.Linear.backward.3", "Module.fc.Linear.forward.3",
                           "Module.parameters_grad.Linear.forward.3", "parameters_grad", ".parameters_grad", ""}) {
    INFO(name);
    CHECK(backward(name) == "none");
  }
}

TEST_CASE("the gradients of a later batch are added to those of the batch before") {
  const auto summand = [](std::string_view name) { return summand_entry_of(name).value_or("none"); };
  CHECK(summand("Module.fc.Linear.parameters_grad.2") == "Module.fc.Linear.parameters_grad.1");
  CHECK(summand("Cell.fc.Dense.parameters_grad.10") == "Cell.fc.Dense.parameters_grad.9");
  for (const char* name : {"Module.fc.Linear.parameters_grad.0", "Cell.fc.Dense.parameters_grad",
                           "Module.fc.Linear.backward.1", "Module.parameters_grad.Linear.forward.3", ""}) {
    INFO(name);
    CHECK(summand(name) == "none");
  }
}

TEST_CASE("entries of the json files tell their kind and op type") {
  const auto kind_of = [](std::string_view name) {
    const auto entry = parse_msprobe_entry(name);
    return entry ? std::pair(static_cast<int>(entry->kind), std::string(entry->op_type)) : std::pair(-1, std::string());
  };
  const auto pair = [](MsprobeEntryKind kind, const char* op_type) {
    return std::pair(static_cast<int>(kind), std::string(op_type));
  };
  CHECK(kind_of("Functional.linear.0.forward") == pair(MsprobeEntryKind::kCall, "linear"));
  CHECK(kind_of("Primitive.MatMul.0.backward") == pair(MsprobeEntryKind::kCall, "MatMul"));
  CHECK(kind_of("Cell.attn.Attention.forward.0") == pair(MsprobeEntryKind::kModule, "Attention"));
  CHECK(kind_of("Cell.fc1.Dense.parameters_grad.0") == pair(MsprobeEntryKind::kParameterGradients, "Dense"));
  CHECK(kind_of("Cell.fc1.Dense.parameters_grad") == pair(MsprobeEntryKind::kParameterGradients, "Dense"));
  CHECK(kind_of("logits.0.debug") == pair(MsprobeEntryKind::kDebug, "logits"));
  for (const auto name : {"", "optimizer", "a.b", "Functional.linear.0", "Cell.forward.0", ".0.debug", "a.b.c.d"}) {
    CHECK(kind_of(name).first == -1);
  }
}

// ccsrc/aclgraph_dump/aclgraph_dump.cpp: build_indexed_tensor_path; the names of its dump.json are those of
// _parse_stat_key in python/msprobe/pytorch/aclgraph_dumper.py.
TEST_CASE("a tensor of AclGraphDumper is named as in its dump.json") {
  const auto text = [](std::string_view file_name) {
    const auto name = parse_aclgraph_file_name(file_name);
    if (!name) return std::string("none");
    return name->op_name + "|" + std::string(name->op_type) + "|" + std::string(name_of(name->io)) + "|" +
           std::string(name->slot);
  };
  CHECK(text("Module.layers.0.attn.Attention.2.input.0.pt") ==
        "Module.layers.0.attn.Attention.forward.2|Attention|input|0");
  CHECK(text("Module.__root__.Net.0.output.pt") == "Module.__root__.Net.forward.0|Net|output|");
  CHECK(text("Module.fc.Linear.0.input_kwargs.mask.0.pt") == "Module.fc.Linear.forward.0|Linear|input|mask.0");
  CHECK(text("Aten.add.Tensor.3.output.0.pt") == "Aten.add.Tensor.3.forward|add.Tensor|output|0");
  CHECK(text("rotary.1.input.0.pt") == "rotary.1.forward|rotary|input|0");
  for (const char* name : {"Aten.mm.0.output.0.npy", "Aten.mm.output.0.pt", "0.output.0.pt", "Aten.mm.0.param.0.pt",
                           "Aten.mm.0.pt", ".pt", ""}) {
    INFO(name);
    CHECK(text(name) == "none");
  }
  CHECK(text(std::string(2000, 'a') + ".0.output.pt") == "none");
}

// ptdbg_ascend/dump/dump.py: dump_api_tensor, dump_tensor.
TEST_CASE("a tensor of ptdbg_ascend is of the call that has the name of today") {
  const auto text = [](std::string_view stem) {
    const auto name = parse_ptdbg_name(stem);
    if (!name) return std::string("none");
    return name->op_name + "|" + std::string(name->op_type) + "|" + std::string(name_of(name->io)) + "|" +
           std::string(name->slot);
  };
  CHECK(text("Functional_conv2d_1_forward_input.0") == "Functional.conv2d.1.forward|conv2d|input|0");
  CHECK(text("Tensor___add___12_backward_output.1.0") == "Tensor.__add__.12.backward|__add__|output|1.0");
  CHECK(text("NPU_npu_fusion_attention_0_forward_output.10") ==
        "NPU.npu_fusion_attention.0.forward|npu_fusion_attention|output|10");
  for (const char* name :
       {"Functional_conv2d_1_forward_input", "Functional_conv2d_1_forward_input.",
        "Functional_conv2d_1_forward_input.a", "Functional_conv2d_forward_input.0", "block_1_forward_input.0",
        "_conv2d_1_forward_input.0", "Functional__1_forward_input.0", "Functional_conv2d_1_forward_kwargs.0",
        "Functional_conv2d_1_sideways_input.0", "Functional_conv2d_1_forward_parameters.0", "_1_forward_input.0",
        "_forward_input.0", "input.0", ".0", "0", ""}) {
    INFO(name);
    CHECK(text(name) == "none");
  }
  CHECK(text("F_" + std::string(2000, 'a') + "_0_forward_input.0") == "none");
}

}  // namespace
}  // namespace msdump
