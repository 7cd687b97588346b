// How fast IR text is read: a whole graph, and the operators of one source line, beside cat and grep -c over the same
// file, and how much memory a graph takes.
//
//   bench_ir [--runs N] [--scale PERCENT] [--keep]
//
// The text is like that of MindSpore 2.4 for a language model of 96 layers: 120,000 operators (245 MB) at 100 percent,
// each with its own debug name and unique_id, scopes of 180 bytes and seven to ten source lines. It lies under $TMPDIR,
// which should be in memory (/dev/shm): the disk is not what is measured.
#include <fstream>

#include "ir/ir_text.h"
#include "whole_process.h"

namespace {

using namespace msdump;

constexpr std::string_view kLibrary = "/usr/local/lib/python3.10/site-packages/mindspore/";

// "# In file" lines as 2.3 and later write them, outermost first; the user's script is in the middle.
std::string source_lines(int layer, int kind) {
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

void write_operator(std::string& text, int number, int layer) {
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
      layer, kind, op_type_of(op), number % 3);
  text += source_lines(layer, kind);
}

void write_ir(const std::string& path, int operators) {
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

// A script's frame that names exactly this line.
bool is_line(std::string_view behind, int line) { return behind.starts_with(fmt::format(":{},", line)); }

struct Reading {
  std::string name;
  IrTextOptions options;
};

Reading whole_graph() { return {"whole graph", {}}; }

Reading all_attributes() {
  Reading reading = {"with all attributes", {}};
  reading.options.all_attributes = true;
  return reading;
}

Reading one_line(std::string script, int line) {
  Reading reading = {fmt::format("{}:{}", script, line), {}};
  reading.options.needle = {std::move(script), [line](std::string_view behind) { return is_line(behind, line); }};
  return reading;
}

void measure(const std::string& path, const Reading& reading, int runs) {
  std::vector<double> seconds;
  uint64_t size = 0, memory = 0, kept = 0, seen = 0;
  for (int i = 0; i <= runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto file = File::open(path);
    const auto ir = read_ir_text(*file, reading.options);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (!ir) std::exit(1);
    if (i > 0) seconds.push_back(elapsed.count());
    size = file->size();
    memory = ir->memory();
    kept = ir->parsed();
    seen = ir->facts.node_heads;
  }
  const double time = bench::median(seconds);
  fmt::print("{:24} {:7.3f} s  {:6.0f} MB/s  {} of {} operators  {}\n", reading.name, time,
             static_cast<double>(size) / 1e6 / time, kept, seen,
             kept == 0
                 ? ""
                 : fmt::format("{:.0f} bytes an operator", static_cast<double>(memory) / static_cast<double>(kept)));
  std::fflush(stdout);
}

void measure_command(const std::string& name, const std::vector<std::string>& command, uint64_t size, int runs) {
  std::vector<double> seconds;
  for (int i = 0; i <= runs; ++i) {
    const double elapsed = bench::run(command).seconds;
    if (i > 0) seconds.push_back(elapsed);
  }
  const double time = bench::median(seconds);
  fmt::print("{:24} {:7.3f} s  {:6.0f} MB/s\n", name, time, static_cast<double>(size) / 1e6 / time);
  std::fflush(stdout);
}

// Through a pipe: into /dev/null grep stops at the first match.
std::vector<std::string> grep(const std::string& what, const std::string& path) {
  return {"sh", "-c", fmt::format("LC_ALL=C grep -c '{}' {} | cat", what, path)};
}

}  // namespace

int main(int argc, char** argv) {
  bench::Options options = bench::parse(argc, argv);
  options.runs = std::max(1, options.runs);
  const bench::Scratch scratch(options);
  const std::string path = (scratch.path() / "graph.ir").string();
  write_ir(path, options.scaled(120000));
  const uint64_t size = std::filesystem::file_size(path);
  fmt::print("{}: {:.0f} MB\n", path, static_cast<double>(size) / 1e6);
  measure(path, whole_graph(), options.runs);
  measure(path, all_attributes(), options.runs);
  measure_command("cat", {"cat", path}, size, options.runs);
  // A script that every operator names, a line that none names, and a script that is not there.
  measure(path, one_line("llama.py", 221), options.runs);
  measure(path, one_line("llama.py", 9), options.runs);
  measure_command("grep -c llama.py:221", grep("llama.py:221", path), size, options.runs);
  measure_command("grep -c llama.py", grep("llama.py", path), size, options.runs);
  measure(path, one_line("alexnet.py", 175), options.runs);
  measure_command("grep -c alexnet.py:175", grep("alexnet.py:175", path), size, options.runs);
  return 0;
}
