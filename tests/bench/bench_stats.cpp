// msdump stats, check and info against cat, md5sum and find, on data made here: what users wait for, as whole processes.
//
//   bench_stats [--runs N] [--scale PERCENT] [--keep] [--only PART] [--msdump PATH]
//
//   tensor          one tensor of 1 GiB, every column but MD5, for dtypes and dialects          against cat of the file
//   small           5000 .npy of 33 KB, every column but MD5                                    against cat of them all
//   md5             64 .npy of 16 MiB, MD5 alone        against md5sum on as many cores (xargs -P) as msdump uses
//   check           msdump check of the tensor and of the small arrays        against stats of them, every column but MD5
//   recompute       msdump check --recompute of products of 2048^3, of sums of 4 million elements, and of 33 000 small
//                   products of elements             against stats of them, every column but MD5
//   info            200 000 empty files in 20 folders                    against find -size, which looks at each as well
// Everything is page-cached.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>

#include "npy/npy.h"
#include "tensor/dtype.h"
#include "whole_process.h"

namespace fs = std::filesystem;

namespace {

using bench::Options;
using msdump::DType;

constexpr const char* kColumns =
    "max,min,avg,count,negative zero count,positive zero count,nan count,negative inf count,positive inf count,"
    "zero count,l2norm";

// Noise of either sign; exponents around that of 1, so that squares are ordinary numbers.
std::string noise(DType dtype, size_t bytes) {
  std::string data;
  data.reserve(bytes + 8);
  uint64_t state = 0x9E3779B97F4A7C15;
  const bool integer = dtype == DType::kInt8;
  const size_t width = static_cast<size_t>(msdump::info(dtype).bits) / 8;
  while (data.size() < bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    char text[8];
    std::memcpy(text, &state, sizeof text);
    for (size_t last = width - 1; last < sizeof text && !integer; last += width) {
      text[last] = static_cast<char>((text[last] & 0x80) | 0x3F);
    }
    data.append(text, sizeof text);
  }
  data.resize(bytes);
  return data;
}

void write_array(const fs::path& path, DType dtype, const std::string& block, int times) {
  const auto count = static_cast<int64_t>(block.size() * static_cast<size_t>(times) * 8) / msdump::info(dtype).bits;
  // Stored as numpy would have to: bfloat16 in MindSpore's own way.
  std::string header = msdump::npy::make_header(dtype == DType::kBfloat16 ? DType::kFloat16 : dtype, {count});
  if (dtype == DType::kBfloat16) header.replace(header.find("<f2"), 3, "<E2");
  std::ofstream out(path, std::ios::binary);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (int i = 0; i < times; ++i) out.write(block.data(), static_cast<std::streamsize>(block.size()));
}

std::string array_name(int number) {
  return fmt::format(
      "MatMul.Default_network-Net_layer{}-Dense_MatMul-op{}.0.0.17339054468{:05}.output.0.DefaultFormat.npy", number,
      number, number);
}

std::vector<std::string> stats(const Options& options, const fs::path& dump, const char* version, const char* columns) {
  return {options.msdump, "stats", "-q", "-d", dump, "--dialect", version, "--columns", columns, "--csv"};
}

void one_tensor(const Options& options, const fs::path& scratch) {
  constexpr size_t kBlock = size_t{16} << 20;
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kBfloat16, DType::kInt8, DType::kFloat64}) {
    const fs::path file = scratch / array_name(0);
    write_array(file, dtype, noise(dtype, kBlock), options.scaled(64));
    for (const char* version : {"2.10.0", "2.5.0", "2.4.0", "2.3.0", "2.2.14"}) {
      if (dtype != DType::kFloat16 && std::string_view(version) != "2.10.0" && std::string_view(version) != "2.5.0")
        continue;
      bench::compare({fmt::format("{} {}", msdump::name_of(dtype), version),
                      "cat",
                      stats(options, file, version, kColumns),
                      {"cat", file}},
                     options);
    }
    fs::remove(file);
  }
}

void small(const Options& options, const fs::path& scratch) {
  const fs::path folder = scratch / "small";
  fs::create_directories(folder);
  const std::string block = noise(DType::kFloat16, size_t{128} * 128 * 2);
  for (int i = 0; i < options.scaled(5000); ++i) write_array(folder / array_name(i), DType::kFloat16, block, 1);
  // One cat of all of them: the shell's argument list takes them in one go.
  bench::compare({"small",
                  "cat",
                  stats(options, folder, "2.10.0", kColumns),
                  {"sh", "-c", fmt::format("cat {}/*", folder.string())}},
                 options);
  fs::remove_all(folder);
}

void md5(const Options& options, const fs::path& scratch) {
  const fs::path folder = scratch / "md5";
  fs::create_directories(folder);
  const std::string block = noise(DType::kFloat16, size_t{16} << 20);
  for (int i = 0; i < options.scaled(64); ++i) write_array(folder / array_name(i), DType::kFloat16, block, 1);
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  bench::compare(
      {fmt::format("md5, {} cores", cores),
       "md5sum",
       stats(options, folder, "2.10.0", "md5"),
       {"sh", "-c", fmt::format("find {} -type f -print0 | xargs -0 -P{} -n 4 md5sum", folder.string(), cores)}},
      options);
  fs::remove_all(folder);
}

// The same pass over the elements, and the rules under it.
void check(const Options& options, const fs::path& scratch) {
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kBfloat16}) {
    const fs::path folder = scratch / "check";
    fs::create_directories(folder);
    write_array(folder / array_name(0), dtype, noise(dtype, size_t{16} << 20), options.scaled(64));
    bench::compare({fmt::format("check, {} tensor", msdump::name_of(dtype)),
                    "stats",
                    {options.msdump, "check", "-q", "-d", folder},
                    stats(options, folder, "2.10.0", kColumns)},
                   options);
    fs::remove_all(folder);
  }
  const fs::path folder = scratch / "check_small";
  fs::create_directories(folder);
  const std::string block = noise(DType::kFloat16, size_t{128} * 128 * 2);
  for (int i = 0; i < options.scaled(5000); ++i) write_array(folder / array_name(i), DType::kFloat16, block, 1);
  bench::compare({"check, small",
                  "stats",
                  {options.msdump, "check", "-q", "-d", folder},
                  stats(options, folder, "2.10.0", kColumns)},
                 options);
  fs::remove_all(folder);
}

// Calls of msprobe: a b = y, where all elements of a tensor are alike.
void calls(const fs::path& folder, const char* api, int count, int64_t extent, float y) {
  fs::create_directories(folder / "dump_tensor_data");
  std::ofstream json(folder / "dump.json");
  json << R"({"task": "tensor", "level": "L1", "framework": "mindspore", "data": {)";
  const auto tensor = [&](const std::string& name, float value) {
    std::string block(static_cast<size_t>(extent) * sizeof value, '\0');
    for (size_t at = 0; at < block.size(); at += sizeof value) std::memcpy(block.data() + at, &value, sizeof value);
    std::ofstream out(folder / "dump_tensor_data" / name, std::ios::binary);
    out << msdump::npy::make_header(DType::kFloat32, {extent, extent});
    for (int64_t row = 0; row < extent; ++row) out << block;
    return fmt::format(R"({{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [{0}, {0}], "data_name": "{1}"}})",
                       extent, name);
  };
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("Mint.{}.{}.forward", api, i);
    const std::string a = tensor(name + ".input.0.npy", 1), b = tensor(name + ".input.1.npy", 1);
    json << fmt::format(R"({}"{}": {{"input_args": [{}, {}], "input_kwargs": {{}}, "output": [{}]}})",
                        i == 0 ? "" : ", ", name, a, b, tensor(name + ".output.0.npy", y));
  }
  json << "}}";
}

void recompute(const Options& options, const fs::path& scratch) {
  const auto compare = [&](const std::string& name, const char* api, int count, int64_t extent, float y) {
    const fs::path folder = scratch / "calls" / "step0" / "rank0";
    calls(folder, api, count, extent, y);
    bench::compare({"recompute, " + name,
                    "stats",
                    {options.msdump, "check", "-q", "--recompute", "-d", scratch / "calls"},
                    stats(options, scratch / "calls", "2.10.0", kColumns)},
                   options);
    fs::remove_all(scratch / "calls");
  };
  compare("products", "matmul", options.scaled(21), 2048, 2048);
  compare("sums", "add", options.scaled(21), 2048, 2);
  compare("small", "mul", options.scaled(33000), 16, 1);
}

void info(const Options& options, const fs::path& scratch) {
  const fs::path root = scratch / "tree";
  const int per_step = options.scaled(10000);
  for (int step = 0; step < 20; ++step) {
    const fs::path folder = root / "rank_0" / "Net" / "0" / std::to_string(step);
    fs::create_directories(folder);
    for (int i = 0; i < per_step; ++i) {
      std::ofstream(folder /
                    fmt::format("MatMul.Default_network-WithLossCell__backbone-Net_layer{}-Dense_MatMul-op{}.0.0."
                                "1733905446{:06}.output.0.DefaultFormat.float16.npy",
                                i, i, step * per_step + i));
    }
  }
  bench::compare({fmt::format("info, {} files", 20 * per_step),
                  "find",
                  {options.msdump, "info", "-q", root},
                  {"find", root, "-size", "+1000"}},
                 options);
  bench::compare({fmt::format("ls --no-shape, {} files", 20 * per_step),
                  "find",
                  {options.msdump, "ls", "-q", "--no-shape", "--csv", "-d", root},
                  {"find", root, "-size", "+1000"}},
                 options);
  fs::remove_all(root);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = bench::parse(argc, argv);
  const bench::Scratch scratch(options);
  if (options.wants("tensor")) one_tensor(options, scratch.path());
  if (options.wants("small")) small(options, scratch.path());
  if (options.wants("md5")) md5(options, scratch.path());
  if (options.wants("check")) check(options, scratch.path());
  if (options.wants("recompute")) recompute(options, scratch.path());
  if (options.wants("info")) info(options, scratch.path());
  return 0;
}
