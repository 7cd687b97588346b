// The join of a dump with its IR, alone, beside `sort` of the two lists of names; and msdump find-op and map-ir on an
// IR without a dump, as whole processes beside grep -c.
//
//   bench_graph [--runs N] [--scale PERCENT] [--keep] [--only join|foreign|commands|ge] [--msdump PATH]
//
//   files, names, IR   what comes before a join: the tree walked, names taken apart, 20 IR texts read
//   join     a million operators in 20 graphs with a million files: numbers in the IR are not those of the files, as in
//            MindSpore 2.7 and later, so both hypotheses are tried. The files are empty: nothing decides but the version
//   foreign  the same files and operators, but every name differs: what a wrong --ir costs
//   find-op, map-ir    over one IR of 245 MB (made_ir.h): a line that is there, a line that is not, a script that is not
//   ge       find-op and map-ir over graphs of GE of 100 MB (made_ge.h), without and with the bytes of kernels
// All of it lies under $TMPDIR, which should be in memory (/dev/shm): the disk is not what is measured.
#include <algorithm>
#include <fstream>
#include <random>

#include "graph/join/numbering.h"
#include "graph/load/load_graph.h"
#include "io/run_context.h"
#include "io/worker_pool.h"
#include "made_ge.h"
#include "made_ir.h"
#include "whole_process.h"

namespace fs = std::filesystem;

namespace {

using namespace msdump;
using bench::Options;

constexpr int kGraphs = 20;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Operator `i` of a graph: its scope and type; the second half of a graph repeats the names of the first, so that
// numbers are 0 and 1.
std::string scoped_name(int graph, int i, int per_graph) {
  constexpr std::string_view kTypes[] = {"MatMul", "Add", "Mul", "Cast", "SiLU", "Transpose"};
  const int name = i % std::max(1, per_graph / 2);
  return fmt::format("Default/network-TrainOneStepCell/_backbone-Llama/layers-CellList/{}-Block{}/w{}-Linear/{}", graph,
                     name / 8, name % 8, kTypes[name % 6]);
}

struct Tree {
  fs::path dump, operator_names, file_names;
};

void write_graph_text(const fs::path& path, int graph, int per_graph, std::ofstream& names) {
  std::ofstream out(path);
  out << fmt::format("# IR entry: @kernel_graph{0}\n# Total subgraphs: 1\n\nsubgraph @kernel_graph{0}() {{\n", graph);
  for (int i = 0; i < per_graph; ++i) {
    // The other way round than in the files.
    const std::string name = fmt::format("{}-op{}", scoped_name(graph, i, per_graph), i < per_graph / 2 ? 1 : 0);
    const std::string_view type = std::string_view(name).substr(name.rfind('/') + 1);
    out << fmt::format(
        "  %{}(CNode_{}) = PrimFunc_{}(%{}, %{})\n      : (<Tensor[Float16], (4096, 512)>, <Tensor[Float16], (4096, "
        "512)>) -> (<Tensor[Float16], (4096, 512)>)\n      # Fullname with scope: ({})\n      # In file "
        "/home/user/net.py:{}, 8~20/x = self.f(x)/\n",
        i, i, type.substr(0, type.find('-')), std::max(0, i - 1), std::max(0, i - 7), name, 100 + i % 50);
    names << name << '\n';
  }
  out << "}\n";
}

// `other`: part of the names of the operators, none of the files'.
Tree make_tree(const fs::path& scratch, int per_graph, std::string_view other) {
  Tree tree{scratch / "dump", scratch / "operators.txt", scratch / "files.txt"};
  std::ofstream operators(tree.operator_names), files(tree.file_names);
  std::vector<std::string> file_names;
  const fs::path rank = tree.dump / "rank_0";
  fs::create_directories(rank / "graphs");
  fs::create_directories(rank / ".dump_metadata");
  std::ofstream(rank / ".dump_metadata" / "config.json") << R"({"device_target":"CPU","ms_version":"2.10.0"})";
  for (int graph = 0; graph < kGraphs; ++graph) {
    write_graph_text(rank / "graphs" / fmt::format("ms_output_trace_code_graph_{}.ir", graph), graph, per_graph,
                     operators);
    const fs::path folder = rank / "Net" / std::to_string(graph) / "0";
    fs::create_directories(folder);
    for (int i = 0; i < per_graph; ++i) {
      std::string name = fmt::format("{}{}-op{}", scoped_name(graph, i, per_graph), other, i < per_graph / 2 ? 0 : 1);
      std::replace(name.begin(), name.end(), '/', '_');
      const std::string_view type = std::string_view(name).substr(name.rfind('_') + 1);
      std::ofstream(folder / fmt::format("{}.{}.0.0.{}.output.0.DefaultFormat.Float16.npy",
                                         type.substr(0, type.find('-')), name, 1733905446000000 + i));
      file_names.push_back(std::move(name));
    }
  }
  // In no order, as a directory gives them.
  std::shuffle(file_names.begin(), file_names.end(), std::mt19937(1));
  for (const std::string& name : file_names) files << name << '\n';
  return tree;
}

struct Loaded {
  DumpIndex index;
  TensorList list;
  LoadedGraph graph;
};

// Ends the program where a part fails: a number of a failure means nothing.
template <class T>
T checked(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "bench: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

void print(const char* name, double seconds, double other = 0) {
  fmt::print("{:26} {:7.3f} s{}\n", name, seconds,
             other > 0 ? fmt::format("   sort {:7.3f} s   ratio {:.2f}", other, seconds / other) : "");
  std::fflush(stdout);
}

Loaded load(const Tree& tree, WorkerPool& pool) {
  const CancelToken cancel;
  std::optional<DumpIndex> index;
  std::optional<TensorList> list;
  std::optional<LoadedGraph> graph;
  print("files", seconds_of([&] { index = checked(DumpIndex::build({tree.dump}, {{}, &cancel, &pool})); }));
  print("names", seconds_of([&] {
          list = checked(TensorList::read(*index, {}, {Headers::kWhereNeeded}, {pool, cancel, nullptr}));
        }));
  print("IR", seconds_of([&] {
          const IrSearch search = checked(find_ir(&*index, {}));
          graph = checked(load_graph(search.files, {}, {pool, cancel}));
        }));
  return {std::move(*index), std::move(*list), std::move(*graph)};
}

void join(const Options& options, const fs::path& scratch, std::string_view other) {
  const int per_graph = options.scaled(1'000'000 / kGraphs);
  const Tree tree = make_tree(scratch, per_graph, other);
  WorkerPool pool(2);
  const Loaded loaded = load(tree, pool);
  const CancelToken cancel;
  std::vector<double> ours, theirs;
  size_t matched = 0;
  for (int i = 0; i <= options.runs; ++i) {
    const double mine = seconds_of([&] {
      const Joined joined =
          checked(join_files(loaded.index, loaded.list.tensors(), loaded.graph.graph, {pool, cancel}));
      matched = joined.join.matched_operators();
    });
    const std::string sort = fmt::format("LC_ALL=C; export LC_ALL; sort {}; sort {}", tree.operator_names.string(),
                                         tree.file_names.string());
    const double sorted = bench::run({"sh", "-c", sort}).seconds;
    if (i == 0) continue;
    ours.push_back(mine);
    theirs.push_back(sorted);
  }
  fmt::print("{} operators, {} with files, {} tensors\n", loaded.graph.graph.size(), matched,
             loaded.list.tensors().size());
  print(other.empty() ? "join" : "foreign", bench::median(ours), bench::median(theirs));
  fs::remove_all(tree.dump);
}

// Through a pipe: into /dev/null grep stops at the first match. What finds nothing ends with 1, which is right here.
std::vector<std::string> grep(const std::string& what, const std::string& path) {
  return {"sh", "-c", fmt::format("LC_ALL=C grep -c '{}' {} | cat", what, path)};
}

void commands(const Options& options, const fs::path& scratch) {
  const std::string path = (scratch / "graph.ir").string();
  bench::write_ir(path, options.scaled(120000));
  for (const char* place : {"llama.py:221", "llama.py:9", "net.py:175"}) {
    bench::compare(
        {fmt::format("find-op {}", place),
         "grep -c",
         {"sh", "-c", fmt::format("{} find-op -q --line {} --ir {} || [ $? = 1 ]", options.msdump, place, path)},
         grep(place, path)},
        options);
  }
  bench::compare({"map-ir",
                  "cat",
                  {options.msdump, "map-ir", "-q", "--ir", path},
                  {"sh", "-c", fmt::format("cat {} | cat", path)}},
                 options);
  bench::compare({"map-ir --jsonl",
                  "cat",
                  {options.msdump, "map-ir", "-q", "--jsonl", "--ir", path},
                  {"sh", "-c", fmt::format("cat {} | cat", path)}},
                 options);
}

void ge(const Options& options, const fs::path& scratch) {
  const std::string path = (scratch / "ge_proto_00000001_Build.txt").string();
  for (const bool kernels : {false, true}) {
    bench::write_ge_proto(path, static_cast<size_t>(options.scaled(100 << 20)), kernels);
    const std::string what = kernels ? "GE with kernels" : "GE";
    const std::string find = fmt::format("{} find-op -q --line net.py:1 --ir {} || [ $? = 1 ]", options.msdump, path);
    bench::compare({what + ", find-op", "grep -c", {"sh", "-c", find}, grep("name: ", path)}, options);
    bench::compare({what + ", map-ir", "grep -c", {options.msdump, "map-ir", "-q", "--ir", path}, grep("name: ", path)},
                   options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = bench::parse(argc, argv);
  const bench::Scratch scratch(options);
  // First: what this program itself has taken would count as theirs.
  if (options.wants("commands")) commands(options, scratch.path());
  if (options.wants("ge")) ge(options, scratch.path());
  if (options.wants("join")) join(options, scratch.path(), "");
  if (options.wants("foreign")) join(options, scratch.path(), "_x");
  return 0;
}
