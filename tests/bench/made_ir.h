// An IR text like that of MindSpore 2.4 for a language model of 96 layers: 2 KB an operator, each with its own debug
// name and unique_id, scopes of 180 bytes and seven to ten source lines.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "ir/model/ir_graph.h"

namespace bench {

inline constexpr std::string_view kLibrary = "/usr/local/lib/python3.10/site-packages/mindspore/";

// "# In file" lines as 2.3 and later write them, outermost first; the user's script is in the middle.
inline std::string source_lines(int layer, int kind) {
  std::string text;
  const auto add = [&](std::string_view place) { text.append("      # In file ").append(place).append("\n"); };
  add(fmt::format("{}nn/wrap/cell_wrapper.py:423~438, 4~19/    def construct(self, *inputs):/", kLibrary));
  add(fmt::format("{}nn/wrap/cell_wrapper.py:442, 15~27/        loss = self.network(*inputs)/", kLibrary));
  add("/home/user/work/model/llama.py:210~260, 4~20/    def construct(self, tokens, mask):/");
  add(fmt::format("/home/user/work/model/llama.py:{}, 16~48/                h = self.layers[i](h, freqs, mask)/",
                  220 + layer % 30));
  for (int i = 0; i <= kind % 4; ++i) {
    add(fmt::format("/home/user/work/model/transformer.py:{}, 12~60/            h = self.attention(self.norm(x), {})/",
                    100 + kind * 3 + i, kind));
  }
  add(fmt::format("{}ops/auto_generate/gen_ops_def.py:{}~{}, 0~31/def op_{}(input, other):/", kLibrary,
                  3000 + kind * 40, 3040 + kind * 40, kind));
  add(fmt::format("{}ops/auto_generate/gen_ops_def.py:{}, 11~31/    return op_{}_op(input, other)/", kLibrary,
                  3040 + kind * 40, kind));
  return text;
}

inline void write_operator(std::string& text, int number, int layer) {
  constexpr std::string_view kOps[] = {
      "PrimFunc_MatMul", "PrimFunc_Add",  "PrimFunc_Mul",      "PrimFunc_Reshape", "Load",
      "PrimFunc_Cast",   "PrimFunc_SiLU", "PrimFunc_Transpose"};
  const int kind = number % 24;
  const std::string_view op = kOps[kind % 8];
  text += fmt::format(
      "  %{}(CNode_{}) = {}(%{}, %{}, Bool(0), Bool(1)) {{instance name: op{}}} primitive_attrs: {{in_strategy: ((1, "
      "1), "
      "(8, 1)), output_names: [output], input_names: [x, y]}} cnode_attrs: {{checkpoint: Bool(1)}} cnode_primal_attrs: "
      "{{unique_id: \"{}\", micro: I64(0)}}\n",
      number, 100000 + number, op, std::max(0, number - 1), std::max(0, number - 7), kind, 700000 + number);
  const int width = 512 << kind % 5;
  text += fmt::format(
      "      : (<Tensor[Float16], (4096, {0})>, <Tensor[Float16], ({0}, 4096)>, <Bool, NoShape>, <Bool, NoShape>) -> "
      "(<Tensor[Float16], (4096, {0})>)\n"
      "      : (<Float16xDefaultFormat[const vector]{{4096, {0}}}>, <Float16xDefaultFormat[const vector]{{{0}, "
      "4096}}>, "
      "<BoolxDefaultFormat[const vector]{{}}>, <BoolxDefaultFormat[const vector]{{}}>) -> "
      "(<Float16xDefaultFormat[const vector]{{4096, {0}}}>)\n"
      "      : (Tensor, Tensor, Scalar, Scalar) -> (Tensor)\n",
      width);
  text += fmt::format(
      "      # Fullname with scope: (Default/network-MFPipelineWithLossScaleCell/network-_VirtualDatasetCell/_backbone-"
      "GradAccumulationCell/network-LlamaForCausalLM/model-LlamaModel/layers-CellList/{}-LLamaDecodeLayer/attention-"
      "LLamaAttention/w{}-Linear/{}-op{})\n",
      layer, kind, msdump::op_type_of(op), number % 3);
  text += source_lines(layer, kind);
}

inline void write_ir(const std::string& path, int operators) {
  std::ofstream out(path, std::ios::binary);
  out << fmt::format(
      "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Total params: 0\n# Params:\n\nNode counting information:\n"
      "Total number of nodes: {0}\nTotal number of cnodes: {0}\n\nsubgraph attr:\nsubgraph instance: kernel_graph0 : "
      "0x1\nsubgraph @kernel_graph0() {{\n",
      operators + 1);
  std::string text;
  for (int i = 0; i < operators; ++i) {
    write_operator(text, i, i * 96 / std::max(operators, 1));
    if (text.size() < size_t{1} << 20 && i + 1 < operators) continue;
    out << text;
    text.clear();
  }
  out << fmt::format("  Return(%{})\n      : (<Tensor[Float16], (4096, 512)>)\n}}\n", operators - 1);
  if (!out) std::exit(1);
}

}  // namespace bench
