// How fast IR text is read: a whole graph, and the operators of one source line, beside cat and grep -c over the same
// file, and how much memory a graph takes.
//
//   bench_ir [--runs N] [--scale PERCENT] [--keep]
//
// The text (made_ir.h) has 120,000 operators (245 MB) at 100 percent. It lies under $TMPDIR, which should be in memory
// (/dev/shm): the disk is not what is measured.
#include "ir/text/ir_text.h"
#include "made_ir.h"
#include "whole_process.h"

namespace {

using namespace msdump;

// A script's frame that names exactly this line.
bool is_line(std::string_view behind, int line) { return behind.starts_with(fmt::format(":{},", line)); }

struct Reading {
  std::string name;
  IrTextOptions options;
};

Reading whole_graph() { return {"whole graph", {}}; }

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
  bench::write_ir(path, options.scaled(120000));
  const uint64_t size = std::filesystem::file_size(path);
  fmt::print("{}: {:.0f} MB\n", path, static_cast<double>(size) / 1e6);
  measure(path, whole_graph(), options.runs);
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
