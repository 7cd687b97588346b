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
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dump_data.pb.h"
#include "whole_process.h"

namespace fs = std::filesystem;

namespace {

using bench::Options;
using bench::run;

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
  const auto remove_outputs = [&] {
    fs::remove_all(converted);
    fs::remove_all(copied);
  };
  bench::compare({job.name,
                  "cp",
                  {options.msdump, "convert", "-q", "-d", job.source, "--out", converted, "-f", "NCHW"},
                  {"cp", "-r", job.cp_source, copied},
                  remove_outputs},
                 options);
}

void conv(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / "conv";
  fs::create_directories(source);
  const TensorSpec tensor{3, {8, 16, 56, 56, 16}, {8, 256, 56, 56}};
  for (int i = 0; i < options.scaled(64); ++i) write_dump(source / dump_name("Conv2D", i), {tensor}, {tensor});
  measure({"conv", source, source}, options, scratch);
  fs::remove_all(source);
}

void small(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / "small", arrays = scratch / "small_arrays";
  fs::create_directories(source);
  const TensorSpec tensor{3, {1, 2, 16, 16, 16}, {1, 32, 16, 16}};
  for (int i = 0; i < options.scaled(5000); ++i) write_dump(source / dump_name("Relu", i), {tensor}, {tensor});
  run({options.msdump, "convert", "-q", "-d", source, "--out", arrays, "-f", "NCHW"});
  measure({"small", source, arrays}, options, scratch);
  fs::remove_all(source);
  fs::remove_all(arrays);
}

void large(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / dump_name("Conv2D", 1);
  const auto batch = static_cast<uint64_t>(options.scaled(32));
  write_dump(source, {}, {{3, {batch, 16, 224, 224, 16}, {batch, 256, 224, 224}}});
  measure({"large", source, source}, options, scratch);
  fs::remove(source);
}

void matrix(const Options& options, const fs::path& scratch) {
  const fs::path source = scratch / dump_name("MatMul", 1);
  const auto rows = static_cast<uint64_t>(options.scaled(20000));
  write_dump(source, {}, {{29, {1280, (rows + 15) / 16, 16, 16}, {rows, 20480}}});
  measure({"matrix", source, source}, options, scratch);
  fs::remove(source);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = bench::parse(argc, argv);
  const bench::Scratch scratch(options);
  conv(options, scratch.path());
  small(options, scratch.path());
  large(options, scratch.path());
  matrix(options, scratch.path());
  return 0;
}
