// A dump of many ranks on many machines: what one share of stats and check costs (--shard), and what merging does.
//
//   bench_shard [--ranks N] [--tensors N] [--shards N] [--only stats|check] [--in FOLDER] [--keep] [--msdump PATH]
//
// Default: 64 ranks x 500 tensors, 8 shards. The figures of docs/cluster.md: --ranks 1024 --tensors 2000 --shards 16.
// Tensors are .npy of 64 B to 64 KiB, and those of one operator have one size on all ranks, as in a real run. They are hard
// links to a few files, so that a tree of millions takes no more than its names; everything is page-cached. Shards run one
// after another. Where strace is there, it counts the system calls of the first shard of stats; it is slow, so that is done
// with a tree of at most 8 ranks.
#include <array>
#include <cstring>
#include <fstream>
#include <numeric>

#include "npy/npy.h"
#include "parts/part_file.h"
#include "whole_process.h"

namespace fs = std::filesystem;

namespace {

struct Tree {
  int ranks = 64, tensors = 500;
  uint32_t shards = 8;
};

constexpr int kSizes = 11;           // 64 B, 128 B, .. 64 KiB
constexpr int kMostLinks = 60'000;   // ext4 takes 65 000 for a file
constexpr int64_t kTracedRanks = 8;  // strace takes a while

// A few large ones and many small ones: of each size about half as many as of the one before.
int size_of(int op) {
  const auto noise = static_cast<uint32_t>(op) * 2654435761U;
  return std::min(kSizes - 1, __builtin_clz(noise | 1U));
}

int64_t bytes_of(int size) { return int64_t{64} << size; }

class Sources {
 public:
  explicit Sources(fs::path folder) : folder_(std::move(folder)) { fs::create_directories(folder_); }

  void link(int size, const fs::path& to) {
    Source& source = sources_[static_cast<size_t>(size)];
    if (source.links % kMostLinks == 0) write(size, source);
    ++source.links;
    fs::create_hard_link(source.path, to);
  }

 private:
  struct Source {
    fs::path path;
    int links = 0;
  };

  void write(int size, Source& source) {
    source.path = folder_ / fmt::format("{}-{}", size, source.links);
    std::vector<float> values(static_cast<size_t>(bytes_of(size)) / sizeof(float));
    std::iota(values.begin(), values.end(), 1.0F);
    std::ofstream out(source.path, std::ios::binary);
    const std::string header = msdump::npy::make_header(msdump::DType::kFloat32, {static_cast<int64_t>(values.size())});
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(bytes_of(size)));
  }

  fs::path folder_;
  std::array<Source, kSizes> sources_;
};

// An input and an output of each operator.
void make_tree(const Tree& tree, const fs::path& folder, Sources& sources) {
  for (int rank = 0; rank < tree.ranks; ++rank) {
    const fs::path place = folder / fmt::format("rank_{}/Net/0/0", rank);
    fs::create_directories(place);
    for (int tensor = 0; tensor < tree.tensors; ++tensor) {
      const int op = tensor / 2;
      const std::string name = fmt::format(
          "MatMul.Default_network-Net_layers-Block{}_dense-MatMul-op{}.0.0.{}.{}.0.DefaultFormat.Float32.npy", op / 20,
          op, 1'700'000'000'000'000 + op, tensor % 2 == 0 ? "input" : "output");
      sources.link(size_of(op), place / name);
    }
  }
}

// How much more than the mean the largest share has to read, in percent.
double imbalance(const std::vector<uint64_t>& bytes, uint32_t shards) {
  const std::vector<uint32_t> shares = msdump::shares_of(bytes, shards);
  std::vector<uint64_t> loads(shards);
  for (size_t i = 0; i < bytes.size(); ++i) loads[shares[i] - 1] += bytes[i];
  const double mean = static_cast<double>(std::accumulate(loads.begin(), loads.end(), uint64_t{0})) / shards;
  return 100 * (static_cast<double>(*std::max_element(loads.begin(), loads.end())) / mean - 1);
}

uint64_t file_bytes(int tensor) { return static_cast<uint64_t>(bytes_of(size_of(tensor / 2))) + 128; }

// Of stats a unit is a tensor.
std::vector<uint64_t> tensors_of(const Tree& tree) {
  std::vector<uint64_t> bytes;
  for (int rank = 0; rank < tree.ranks; ++rank) {
    for (int tensor = 0; tensor < tree.tensors; ++tensor) bytes.push_back(file_bytes(tensor));
  }
  return bytes;
}

// Of check an operator of all ranks, or of one if that is more than a fourth of a share.
std::vector<uint64_t> operators_of(const Tree& tree) {
  const std::vector<uint64_t> tensors = tensors_of(tree);
  const uint64_t all = std::accumulate(tensors.begin(), tensors.end(), uint64_t{0});
  const auto ranks = static_cast<uint64_t>(tree.ranks);
  std::vector<uint64_t> bytes;
  for (int tensor = 0; tensor < tree.tensors; tensor += 2) {
    const uint64_t one = 2 * file_bytes(tensor);
    const bool together = one * ranks <= all / tree.shards / 4;
    bytes.insert(bytes.end(), together ? 1 : ranks, together ? one * ranks : one);
  }
  return bytes;
}

void report(const char* what, const std::vector<bench::RunResult>& runs) {
  std::vector<double> seconds, cpu;
  long rss = 0;
  for (const bench::RunResult& run : runs) {
    seconds.push_back(run.seconds);
    cpu.push_back(run.cpu_seconds);
    rss = std::max(rss, run.max_rss_kib);
  }
  fmt::print("  {:8} {:7.2f} s (slowest {:7.2f} s)   {:7.2f} CPU s   peak resident {:7.1f} MiB\n", what,
             bench::median(seconds), *std::max_element(seconds.begin(), seconds.end()), bench::median(cpu),
             static_cast<double>(rss) / 1024);
  std::fflush(stdout);
}

void measure(const std::string& command, const Tree& tree, const fs::path& folder, const bench::Options& options) {
  const fs::path parts = folder / ("parts-" + command);
  const auto with = [&](std::vector<std::string> further) {
    std::vector<std::string> words = {options.msdump, command, "-q", "-d", (folder / "dump").string()};
    words.insert(words.end(), further.begin(), further.end());
    return words;
  };
  fmt::print("{}, the largest share {:.2f} % above the mean\n", command,
             imbalance(command == "check" ? operators_of(tree) : tensors_of(tree), tree.shards));
  report("one run", {bench::run(with({"--jsonl"}))});
  std::vector<bench::RunResult> shards;
  std::vector<std::string> merge = {options.msdump, "merge", "-q", "--jsonl"};
  uint64_t bytes = 0;
  for (uint32_t i = 1; i <= tree.shards; ++i) {
    merge.push_back((parts / std::to_string(i)).string());
    shards.push_back(bench::run(with({"--shard", fmt::format("{}/{}", i, tree.shards), "-out", merge.back()})));
    bytes += fs::file_size(merge.back());
  }
  report("shards", shards);
  report("merge", {bench::run(merge)});
  fmt::print("  parts    {:.1f} MiB, {:.0f} bytes a tensor\n", static_cast<double>(bytes) / 1048576,
             static_cast<double>(bytes) / tree.ranks / tree.tensors);
}

// Calls of the kernel for each tensor of the dump.
void count_calls(const Tree& tree, const fs::path& folder, const bench::Options& options) {
  if (std::system("command -v strace >/dev/null") != 0) return;
  Tree small = tree;
  small.ranks = static_cast<int>(std::min<int64_t>(tree.ranks, kTracedRanks));
  Sources sources(folder / "few-sources");
  make_tree(small, folder / "few", sources);
  const std::string part = (folder / "part").string(), counts = (folder / "counts").string();
  const auto count = [&](const std::string& command) {
    const std::string line = fmt::format("strace -f -c -o {} {} {}", counts, options.msdump, command);
    if (std::system(line.c_str()) != 0) return;
    fmt::print("system calls a tensor of the dump ({} ranks), msdump {}\n", small.ranks,
               command.substr(0, command.find(" -d")));
    std::ifstream lines(counts);
    for (std::string text; std::getline(lines, text);) {
      for (const char* const name :
           {"openat", "newfstatat", "fstat", "getdents64", "pread64", "close", "lseek", "read"}) {
        if (text.size() < std::strlen(name) + 1 || !text.ends_with(std::string(" ") + name)) continue;
        const double calls = std::atof(text.substr(text.find_first_of("0123456789", 32)).c_str());
        fmt::print("  {:12} {:.3f}\n", name, calls / small.ranks / small.tensors);
      }
    }
  };
  const std::string dump = (folder / "few").string();
  count(fmt::format("stats -q -d {} --shard 1/{} -out {}", dump, tree.shards, part));
  count(fmt::format("stats -q -d {} --shard 1/1 -out {}", dump, part));
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  Tree tree;
  fs::path below = fs::temp_directory_path();
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--ranks") tree.ranks = std::atoi(argv[i + 1]);
    if (word == "--tensors") tree.tensors = std::atoi(argv[i + 1]);
    if (word == "--shards") tree.shards = static_cast<uint32_t>(std::atoi(argv[i + 1]));
    if (word == "--in") below = argv[i + 1];
  }
  const fs::path folder = below / fmt::format("msdump-bench-shard-{}", ::getpid());
  Sources sources(folder / "sources");
  make_tree(tree, folder / "dump", sources);
  const std::vector<uint64_t> bytes = tensors_of(tree);
  fmt::print("{} ranks x {} tensors, {:.2f} GiB, {} shards\n", tree.ranks, tree.tensors,
             static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0})) / (1 << 30), tree.shards);
  for (const char* const command : {"stats", "check"}) {
    if (options.wants(command)) measure(command, tree, folder, options);
  }
  if (options.wants("calls")) count_calls(tree, folder, options);
  std::error_code ignored;
  if (!options.keep) fs::remove_all(folder, ignored);
  return 0;
}
