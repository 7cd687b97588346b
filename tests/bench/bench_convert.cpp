// msdump convert against cp, on data made here: what users wait for, as whole processes.
//
//   bench_convert [--runs N] [--scale PERCENT] [--keep] [--msdump PATH]
//
// Three jobs, each run in turn with `cp -r` of the same bytes, so that a noisy machine disturbs both alike:
//   conv    64 files with two NC1HWC0 fp16 tensors of 12.8 MB each (1.6 GB)      against cp -r of the dump
//   small   5000 files of 33 KB with two NC1HWC0 fp16 tensors each               against cp -r of the 10 000 arrays written
//   large   one NC1HWC0 fp16 tensor of 822 MB                                    against cp of the file
//   matrix  one FRACTAL_NZ fp16 tensor of 822 MB, whose rows lie apart           against cp of the file
// Medians and the range of the ratios are printed, with the largest resident set of msdump. Everything is page-cached.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dump_data.pb.h"

namespace fs = std::filesystem;

namespace {

struct Options {
  int runs = 5;
  int scale = 100;
  bool keep = false;
  std::string msdump = MSDUMP_BINARY;
};

struct RunResult {
  double seconds = 0;
  long max_rss_kib = 0;
};

RunResult run(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // What the run before left to be written to the disk is not this run's work.
  ::sync();
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fmt::print(stderr, "bench_convert: '{}' failed\n", command[0]);
    std::exit(1);
  }
  return {elapsed.count(), usage.ru_maxrss};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// fp16 noise without NaN; made once, since the kernels never look at values.
const std::string& noise(size_t bytes) {
  static std::string data;
  uint64_t state = 0x9E3779B97F4A7C15;
  while (data.size() < bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const uint64_t value = state & 0xBBFFBBFFBBFFBBFF;
    data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return data;
}

struct TensorSpec {
  int32_t format;
  std::vector<uint64_t> device, host;
  [[nodiscard]] uint64_t bytes() const {
    uint64_t count = 2;
    for (const uint64_t dim : device) count *= dim;
    return count;
  }
};

template <class Message>
void describe(Message& message, const TensorSpec& tensor) {
  message.set_data_type(2);
  message.set_format(tensor.format);
  for (const uint64_t dim : tensor.device) message.mutable_shape()->add_dim(dim);
  for (const uint64_t dim : tensor.host) message.mutable_original_shape()->add_dim(dim);
  message.set_size(tensor.bytes());
}

void write_dump(const fs::path& path, const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& outputs) {
  msdump::pb::DumpData data;
  data.set_version("2.0");
  for (const TensorSpec& tensor : inputs) describe(*data.add_input(), tensor);
  for (const TensorSpec& tensor : outputs) describe(*data.add_output(), tensor);
  const std::string header = data.SerializeAsString();
  const uint64_t length = header.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  constexpr size_t kChunk = size_t{16} << 20;
  for (const auto* list : {&inputs, &outputs}) {
    for (const TensorSpec& tensor : *list) {
      for (uint64_t left = tensor.bytes(); left > 0;) {
        const size_t now = static_cast<size_t>(std::min<uint64_t>(left, kChunk));
        out.write(noise(kChunk).data(), static_cast<std::streamsize>(now));
        left -= now;
      }
    }
  }
}

std::string dump_name(const char* type, int number) {
  return fmt::format("{}.Default_network-Net_layer{}-Cell_{}-op{}.{}.7.17000000{:08}", type, number, type, number,
                     number, number);
}

struct Job {
  std::string name;
  fs::path source;     // converted
  fs::path cp_source;  // copied
};

void measure(const Job& job, const Options& options, const fs::path& scratch) {
  const fs::path converted = scratch / "converted", copied = scratch / "copied";
  std::vector<double> ours, theirs, ratios;
  long rss = 0;
  for (int i = 0; i <= options.runs; ++i) {
    fs::remove_all(converted);
    fs::remove_all(copied);
    const RunResult convert =
        run({options.msdump, "convert", "-q", "-d", job.source, "--out", converted, "-f", "NCHW"});
    fs::remove_all(converted);
    const RunResult copy = run({"cp", "-r", job.cp_source, copied});
    if (i == 0) continue;  // warm-up
    ours.push_back(convert.seconds);
    theirs.push_back(copy.seconds);
    ratios.push_back(convert.seconds / copy.seconds);
    rss = std::max(rss, convert.max_rss_kib);
  }
  fs::remove_all(converted);
  fs::remove_all(copied);
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  fmt::print("{:8} msdump {:7.3f} s   cp {:7.3f} s   ratio {:.2f} ({:.2f} to {:.2f})   peak resident {:.1f} MiB\n",
             job.name, median(ours), median(theirs), median(ratios), *low, *high, static_cast<double>(rss) / 1024);
  std::fflush(stdout);
}

int scaled(int count, const Options& options) { return std::max(1, count * options.scale / 100); }

void conv(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / "conv";
  fs::create_directories(source);
  const TensorSpec tensor{3, {8, 16, 56, 56, 16}, {8, 256, 56, 56}};
  for (int i = 0; i < scaled(64, options); ++i) write_dump(source / dump_name("Conv2D", i), {tensor}, {tensor});
  measure({"conv", source, source}, options, scratch);
  fs::remove_all(source);
}

void small(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / "small", arrays = scratch / "small_arrays";
  fs::create_directories(source);
  const TensorSpec tensor{3, {1, 2, 16, 16, 16}, {1, 32, 16, 16}};
  for (int i = 0; i < scaled(5000, options); ++i) write_dump(source / dump_name("Relu", i), {tensor}, {tensor});
  run({options.msdump, "convert", "-q", "-d", source, "--out", arrays, "-f", "NCHW"});
  measure({"small", source, arrays}, options, scratch);
  fs::remove_all(source);
  fs::remove_all(arrays);
}

void large(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / dump_name("Conv2D", 1);
  const auto batch = static_cast<uint64_t>(scaled(32, options));
  write_dump(source, {}, {{3, {batch, 16, 224, 224, 16}, {batch, 256, 224, 224}}});
  measure({"large", source, source}, options, scratch);
  fs::remove(source);
}

void matrix(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / dump_name("MatMul", 1);
  const auto rows = static_cast<uint64_t>(scaled(20000, options));
  write_dump(source, {}, {{29, {1280, (rows + 15) / 16, 16, 16}, {rows, 20480}}});
  measure({"matrix", source, source}, options, scratch);
  fs::remove(source);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--keep") options.keep = true;
    if (word == "--runs" && has_value) options.runs = std::atoi(argv[++i]);
    if (word == "--scale" && has_value) options.scale = std::atoi(argv[++i]);
    if (word == "--msdump" && has_value) options.msdump = argv[++i];
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::string name = (fs::temp_directory_path() / "msdump-bench.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return 1;
  const fs::path scratch = name;
  fmt::print("whole processes, {} runs after one warm-up, in turn; medians, and the range of the ratios\n",
             options.runs);
  conv(options, scratch);
  small(options, scratch);
  large(options, scratch);
  matrix(options, scratch);
  if (!options.keep) fs::remove_all(scratch);
  return 0;
}
