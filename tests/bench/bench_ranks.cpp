// What a thousand ranks cost: msdump as whole processes, beside `cat` of the files that it reads.
//
//   bench_ranks [--runs N] [--scale PERCENT] [--keep] [--only statistics|table|tensors] [--msdump PATH]
//
//   statistics   diff and check of 1000 ranks, each with a statistic.csv of 300 rows
//   table        diff of one statistic.csv of 150 000 rows with as many, as text, JSON lines and CSV
//   tensors      diff and check of 1000 ranks with 20 tensors of 64 floats in a file each, and of 100 ranks with one tensor
//                of 64 MiB in a sparse file
// All values differ within the tolerance, so that the model of diff has its work. CPU seconds are those of one process,
// user and system. The files lie under $TMPDIR, which should be in memory (/dev/shm).
#include <fstream>

#include "whole_process.h"

namespace fs = std::filesystem;

namespace {

using bench::Options;

constexpr double kNoise = 1e-5;

void write_table(const fs::path& path, int rows, double noise) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path);
  out << "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm "
         "Value\n";
  for (int i = 0; i < rows; ++i) {
    const double value = (1.0 + (i % 977) / 100.0) * (1 + noise);
    const bool output = i % 3 == 2;
    out << fmt::format(
        "MatMul,Default_network-TrainOneStepCell_backbone_decoder_layers_{}_attention_MatMul-op{},0,0,{},{},{},"
        "33554432,float32,\"[{},1024,8]\",{:.6g},{:.6g},{:.6g}\n",
        i / 3 % 96, i / 3, 1733905446819790 + i, output ? "output" : "input", output ? 0 : i % 3, 1024 + i % 7, value,
        -value, value * 1000);
  }
}

std::string header_of(uint64_t elements) {
  std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", elements);
  text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  const auto size = static_cast<uint16_t>(text.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(size & 0xFF) + static_cast<char>(size >> 8) + text;
}

// A sparse file if there are more elements than values.
void write_tensor(const fs::path& folder, int number, uint64_t elements, double noise) {
  fs::create_directories(folder);
  const fs::path path =
      folder / fmt::format("MatMul.Default_layers_{}_MatMul-op{}.0.0.{}.{}.0.DefaultFormat.float32.npy", number / 2,
                           number / 2, 1733905446819790 + number, number % 2 == 0 ? "input" : "output");
  std::ofstream out(path, std::ios::binary);
  const std::string header = header_of(elements);
  out << header;
  for (int i = 0; i < 64; ++i) {
    const auto value = static_cast<float>((1.0 + i % 7) * (1 + noise));
    out.write(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  out.close();
  fs::resize_file(path, header.size() + elements * sizeof(float));
}

class Ranks {
 public:
  Ranks(const Options& options, const fs::path& root) : options_(options), root_(root) {}

  void statistics() {
    const int ranks = options_.scaled(1000);
    for (const char* const side : {"a", "b"}) {
      for (int rank = 0; rank < ranks; ++rank)
        write_table(root_ / side / fmt::format("rank_{}/net/0/0/statistic.csv", rank), 300, *side == 'a' ? kNoise : 0);
    }
    time_all(fmt::format("{} x 300 rows", ranks), {{}, {"--jsonl"}}, true);
  }

  void table() {
    const int rows = options_.scaled(150'000);
    for (const char* const side : {"a", "b"})
      write_table(root_ / side / "rank_0/net/0/0/statistic.csv", rows, *side == 'a' ? kNoise : 0);
    time_all(fmt::format("{} rows", rows), {{}, {"--jsonl"}, {"--csv"}}, false);
  }

  void tensors() {
    const int ranks = options_.scaled(1000), sparse = options_.scaled(100);
    for (const char* const side : {"a", "b"}) {
      for (int rank = 0; rank < ranks; ++rank) {
        for (int i = 0; i < 20; ++i)
          write_tensor(root_ / side / fmt::format("rank_{}/net/0/0", rank), i, 64, *side == 'a' ? kNoise : 0);
      }
    }
    time_all(fmt::format("{} x 20 tensors", ranks), {{}}, true);
    for (const char* const side : {"a", "b"}) {
      for (int rank = 0; rank < sparse; ++rank)
        write_tensor(root_ / side / fmt::format("rank_{}/net/0/0", rank), 1, 16 << 20, *side == 'a' ? kNoise : 0);
    }
    time_all(fmt::format("{} sparse tensors", sparse), {{}}, true);
  }

 private:
  void time_all(const std::string& what, const std::vector<std::vector<std::string>>& forms, bool with_check) {
    const std::string a = (root_ / "a").string(), b = (root_ / "b").string();
    for (const std::vector<std::string>& form : forms) {
      std::vector<std::string> command = {options_.msdump, "diff", a, b, "-q", "--exit-zero"};
      command.insert(command.end(), form.begin(), form.end());
      time_one(fmt::format("diff {} {}", what, fmt::join(form, " ")), command, {a, b});
    }
    if (with_check) time_one("check " + what, {options_.msdump, "check", "-d", a, "-q", "--fail-level", "error"}, {a});
    fs::remove_all(a);
    fs::remove_all(b);
  }

  void time_one(const std::string& name, const std::vector<std::string>& command,
                const std::vector<std::string>& read) {
    std::vector<std::string> cat = {"find"};
    cat.insert(cat.end(), read.begin(), read.end());
    cat.insert(cat.end(), {"-type", "f", "-exec", "cat", "{}", "+"});
    std::vector<double> ours, theirs, cpu;
    long rss = 0;
    for (int i = 0; i <= options_.runs; ++i) {
      const bench::RunResult mine = bench::run(command), other = bench::run(cat);
      if (i == 0) continue;  // warm-up
      ours.push_back(mine.seconds);
      cpu.push_back(mine.cpu_seconds);
      theirs.push_back(other.seconds);
      rss = std::max(rss, mine.max_rss_kib);
    }
    fmt::print("{:32} {:6.2f} s, {:6.2f} CPU s, peak resident {:6.1f} MiB; cat {:.2f} s\n", name, bench::median(ours),
               bench::median(cpu), static_cast<double>(rss) / 1024, bench::median(theirs));
    std::fflush(stdout);
  }

  const Options& options_;
  const fs::path& root_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = bench::parse(argc, argv);
  const bench::Scratch scratch(options);
  Ranks ranks(options, scratch.path());
  if (options.wants("statistics")) ranks.statistics();
  if (options.wants("table")) ranks.table();
  if (options.wants("tensors")) ranks.tensors();
  return 0;
}
