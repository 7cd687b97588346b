#include "support/graph_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/must.h"
#include "support/scratch_dir.h"

namespace msdump::test {
namespace {

LoadedGraph load(const std::vector<IrFile>& files, const GraphRequest& request) {
  WorkerPool pool(1);
  const CancelToken cancel;
  return must(load_graph(files, request, {pool, cancel}));
}

}  // namespace

OpGraph graph_of(const std::vector<IrSource>& sources) {
  const ScratchDir scratch;
  std::vector<IrFile> files;
  for (const IrSource& source : sources) {
    auto file = ir_file_of_name(scratch.write(source.name, source.text));
    if (!file) fail("no IR file: " + source.name);
    files.push_back(*file);
  }
  LoadedGraph loaded = load(files, {});
  for (const Error& failure : loaded.failures) fail(failure.message);
  return std::move(loaded.graph);
}

std::string ir_text(std::string_view body) {
  return fmt::format(
      "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Total params: 2\n# Params:\n"
      "%para1_x: <Tensor[Float32], (2, 2)>\n%para2_w: <Ref[Tensor[Float32]], (2, 2), ref_key=w>\n\n"
      "subgraph attr:\nsubgraph instance: kernel_graph0 : 0x1\nsubgraph @kernel_graph0() {{\n{}}}\n",
      body);
}

std::string node_text(std::string_view id, std::string_view op, std::string_view operands, std::string_view full_name,
                      const std::vector<std::string>& lines) {
  const auto inputs =
      static_cast<size_t>(std::count(operands.begin(), operands.end(), ',')) + (operands.empty() ? 0 : 1);
  std::string types;
  for (size_t i = 0; i < inputs; ++i) types += i == 0 ? "<Tensor[Float32], (2, 2)>" : ", <Tensor[Float32], (2, 2)>";
  std::string text = fmt::format("  {}(CNode_{}) = {}({})\n      : ({}) -> (<Tensor[Float32], (2, 2)>)\n", id,
                                 id.substr(1), op, operands, types);
  text += fmt::format("      # Fullname with scope: ({})\n", full_name);
  for (const std::string& line : lines) text += fmt::format("      # In file {}/\n", line);
  return text;
}

OpId find_operator(const OpGraph& graph, std::string_view full_name) {
  for (OpId op{0}; op < graph.size(); ++op) {
    if (graph.full_name(op) == full_name) return op;
  }
  fail(fmt::format("no operator {}", full_name));
}

std::vector<std::string> JoinedDump::files_of(OpId op) const {
  std::vector<std::string> paths;
  for (const JoinPair& pair : join().pairs_of(op)) {
    for (const uint32_t tensor : join().tensors_of(join().groups()[pair.group]))
      paths.push_back(dump.index.relative_path_of(dump.index.files()[dump.tensors()[tensor].file]));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

JoinedDump join_dump(const std::filesystem::path& path, Headers headers) {
  JoinedDump result{list_dump({path}, headers, 2), nullptr, nullptr};
  const IrSearch search = must(find_ir(&result.dump.index, {}));
  GraphRequest request;
  for (const TensorRecord& tensor : result.dump.tensors())
    request.add_dumped(place_of(result.dump.index, tensor).step, tensor.name.op_name);
  result.loaded = std::make_unique<LoadedGraph>(load(search.files, request));
  WorkerPool pool(2);
  const CancelToken cancel;
  result.joined = std::make_unique<Joined>(
      must(join_files(result.dump.index, result.dump.tensors(), result.graph(), {pool, cancel})));
  return result;
}

}  // namespace msdump::test
