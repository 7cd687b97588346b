// GB/s of copy_strided, widen, unpack, reduce and pair, per shape and CPU target, beside memcpy of the same number of
// bytes in the same run; and of MD5 and SHA-1, beside OpenSSL's MD5. One core.
//
//   bench_kernels [target...]     default: the best target and "scalar"
//
// GB/s counts the bytes read once (for widening: the narrow bytes; for pair: both sides). Best of at least 5 runs over at least 0.2 s.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <openssl/evp.h>

#include "kernels/copy/copy_strided.h"
#include "kernels/cpu.h"
#include "kernels/digest/digest.h"
#include "kernels/pair/pair.h"
#include "kernels/reduce/reduce.h"
#include "kernels/widen/widen.h"

namespace {

using msdump::DType;
using msdump::kernels::CopyDim;
using Bytes = std::vector<std::byte>;

struct Case {
  std::string name;
  std::vector<CopyDim> dims;
  size_t element_size;
  int64_t src_elements;
  int64_t dst_elements;
};

double best_seconds(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9, total = 0;
  for (int runs = 0; runs < 5 || total < 0.2; ++runs) {
    const auto start = Clock::now();
    work();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

double gigabytes_per_second(size_t bytes, const std::function<void()>& work) {
  return static_cast<double>(bytes) / 1e9 / best_seconds(work);
}

// Small copies are repeated, so that the clock is not what is measured.
double measure(size_t bytes, const std::function<void()>& work) {
  const size_t times = std::max<size_t>(1, (size_t{1} << 20) / std::max<size_t>(bytes, 1));
  return gigabytes_per_second(bytes * times, [&] {
    for (size_t i = 0; i < times; ++i) work();
  });
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// As lib/format cuts it: the whole blocks of C together, the last partial one apart. Only the first is returned when C is a
// multiple of C0 or less than it.
Case nc1hwc0(const std::string& name, int64_t n, int64_t c, int64_t hw, int64_t c0, size_t element) {
  const int64_t c1 = ceil_div(c, c0), inner = std::min(c, c0);
  return {name,
          {{n, c1 * hw * c0, c * hw}, {c1, hw * c0, c0 * hw}, {inner, 1, hw}, {hw, c0, 1}},
          element,
          n * c1 * hw * c0,
          n * c * hw};
}

Case fractal_nz(const std::string& name, int64_t h, int64_t w, int64_t c0, size_t element) {
  const int64_t w1 = ceil_div(w, c0), rows = ceil_div(h, 16) * 16;
  return {name, {{h, c0, w}, {w1, rows * c0, c0}, {std::min(w, c0), 1, 1}}, element, w1 * rows * c0, h * w};
}

Case fractal_z(const std::string& name, int64_t n, int64_t c, int64_t hw, int64_t c0, size_t element) {
  const int64_t c1 = ceil_div(c, c0), rows = ceil_div(n, 16) * 16;
  return {name,
          {{c1, hw * rows * c0, c0 * hw}, {c0, 1, hw}, {hw, rows * c0, 1}, {n, c0, c * hw}},
          element,
          c1 * hw * rows * c0,
          n * c * hw};
}

Case matrix(const std::string& name, int64_t rows, int64_t columns, size_t element, int64_t batch = 1) {
  const int64_t size = rows * columns;
  return {name, {{batch, size, size}, {rows, columns, 1}, {columns, 1, rows}}, element, batch * size, batch * size};
}

std::vector<Case> cases() {
  return {
      nc1hwc0("NC1HWC0 fp16 8x256x56x56", 8, 256, 56 * 56, 16, 2),
      nc1hwc0("NC1HWC0 fp16 1x3x224x224 (C 3 of 16)", 1, 3, 224 * 224, 16, 2),
      nc1hwc0("NC1HWC0 fp16 32x2048x7x7", 32, 2048, 49, 16, 2),
      nc1hwc0("NC1HWC0 fp16 1x64x512x512 (HW 2^18)", 1, 64, 512 * 512, 16, 2),
      nc1hwc0("NC1HWC0 fp16 1x64x56x56 (in cache)", 1, 64, 56 * 56, 16, 2),
      nc1hwc0("NC1HWC0 fp16 8x64x2x2", 8, 64, 4, 16, 2),
      nc1hwc0("NC1HWC0 fp16 C 13 of 16, 56x56", 8, 13, 56 * 56, 16, 2),
      nc1hwc0("NC1HWC0 fp32 8x256x56x56", 8, 256, 56 * 56, 16, 4),
      nc1hwc0("NC1HWC0 fp32 1x64x56x56 (in cache)", 1, 64, 56 * 56, 16, 4),
      nc1hwc0("NC1HWC0 int8 8x256x56x56 (C0 32)", 8, 256, 56 * 56, 32, 1),
      nc1hwc0("NC1HWC0 int8 1x64x56x56 (in cache)", 1, 64, 56 * 56, 32, 1),
      nc1hwc0("NC1HWC0 int64 1x64x56x56", 1, 64, 56 * 56, 16, 8),
      fractal_nz("FRACTAL_NZ fp16 4096x4096", 4096, 4096, 16, 2),
      fractal_nz("FRACTAL_NZ fp16 512x768 (in cache)", 512, 768, 16, 2),
      fractal_nz("FRACTAL_NZ fp16 30000x10 (W 10 of 16)", 30000, 10, 16, 2),
      fractal_nz("FRACTAL_NZ int8 4096x4096 (C0 32)", 4096, 4096, 32, 1),
      fractal_nz("FRACTAL_NZ fp32 4096x4096", 4096, 4096, 16, 4),
      fractal_z("FRACTAL_Z fp16 512x512x3x3", 512, 512, 9, 16, 2),
      fractal_z("FRACTAL_Z fp16 64x64x3x3 (in cache)", 64, 64, 9, 16, 2),
      fractal_z("FRACTAL_Z fp16 2048x512x1x1", 2048, 512, 1, 16, 2),
      fractal_z("FRACTAL_Z int8 512x512x3x3 (C0 32)", 512, 512, 9, 32, 1),
      matrix("NHWC->NCHW u8 3x1024x1024", 1024 * 1024, 3, 1),
      matrix("NHWC->NCHW fp16 3x1024x1024", 1024 * 1024, 3, 2),
      matrix("NHWC->NCHW fp32 3x1024x1024", 1024 * 1024, 3, 4),
      matrix("NHWC->NCHW fp16 8x256x56x56", 56 * 56, 256, 2, 8),
      matrix("NCHW->NHWC u8 3x1024x1024", 3, 1024 * 1024, 1),
      matrix("NCHW->NHWC fp16 3x1024x1024", 3, 1024 * 1024, 2),
      matrix("transpose fp16 4096x4096", 4096, 4096, 2),
      matrix("transpose fp32 4096x4096", 4096, 4096, 4),
      matrix("transpose fp64 2048x2048", 2048, 2048, 8),
      matrix("transpose complex128 1024x1024", 1024, 1024, 16),
      matrix("transpose fp16 512x512 (in cache)", 512, 512, 2),
      {"gather, every 5th fp16", {{1 << 20, 5, 1}}, 2, 5 << 20, 1 << 20},
      {"tiny: 2x3x4 fp16", {{2, 1, 12}, {3, 2, 4}, {4, 6, 1}}, 2, 24, 24},
  };
}

Bytes pattern(size_t size) {
  Bytes bytes(size);
  uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

void run_copy(const Case& item, const std::vector<std::string>& targets) {
  const Bytes src = pattern(static_cast<size_t>(item.src_elements) * item.element_size);
  Bytes dst(static_cast<size_t>(item.dst_elements) * item.element_size), expected = dst, flat = src;
  size_t moved = item.element_size;
  for (const CopyDim& dim : item.dims) moved *= static_cast<size_t>(dim.extent);
  msdump::kernels::copy_strided_reference(item.dims, src.data(), expected.data(), item.element_size);
  std::printf("%-42s %8.1f KB", item.name.c_str(), static_cast<double>(moved) / 1e3);
  for (const std::string& target : targets) {
    if (!msdump::kernels::choose_cpu_target(target)) continue;
    std::fill(dst.begin(), dst.end(), std::byte{0});
    const auto copy = [&] { msdump::kernels::copy_strided(item.dims, src.data(), dst.data(), item.element_size); };
    std::printf(" %8.2f", measure(moved, copy));
    if (dst != expected) std::printf(" WRONG");
  }
  std::printf(" %8.2f\n", measure(moved, [&] { std::memcpy(flat.data(), src.data(), moved); }));
}

void run_widen(DType dtype, size_t count, const std::vector<std::string>& targets) {
  const size_t narrow = static_cast<size_t>(msdump::info(dtype).bits) / 8;
  const size_t wide = static_cast<size_t>(msdump::info(msdump::info(dtype).npy_dtype).bits) / 8;
  const Bytes src = pattern(count * narrow);
  Bytes dst(count * wide), flat(count * wide);
  std::printf("%-42s %8.1f KB", ("widen " + std::string(msdump::name_of(dtype))).c_str(),
              static_cast<double>(src.size()) / 1e3);
  for (const std::string& target : targets) {
    if (!msdump::kernels::choose_cpu_target(target)) continue;
    const auto work = [&] { msdump::kernels::widen(dtype, src.data(), static_cast<int64_t>(count), dst.data()); };
    std::printf(" %8.2f", measure(src.size(), work));
  }
  std::printf(" %8.2f\n", measure(src.size(), [&] { std::memcpy(flat.data(), src.data(), src.size()); }));
}

void run_unpack(DType dtype, size_t bytes, const std::vector<std::string>& targets) {
  const auto count = static_cast<int64_t>(bytes * 8) / msdump::info(dtype).bits;
  const Bytes src = pattern(bytes);
  Bytes dst(static_cast<size_t>(count)), flat(bytes);
  std::printf("%-42s %8.1f KB", ("unpack " + std::string(msdump::name_of(dtype))).c_str(),
              static_cast<double>(bytes) / 1e3);
  for (size_t i = 0; i < targets.size(); ++i) {
    std::printf(" %8.2f", measure(bytes, [&] { msdump::kernels::unpack(dtype, src.data(), 0, count, dst.data()); }));
  }
  std::printf(" %8.2f\n", measure(bytes, [&] { std::memcpy(flat.data(), src.data(), bytes); }));
}

// `jobs` buffers one after the other in memory, all digests abreast; the last column is OpenSSL's, one after the other.
void run_md5(size_t jobs, size_t bytes, const std::vector<std::string>& targets) {
  const Bytes src = pattern(jobs * bytes);
  std::printf("%-42s %8.1f KB", ("md5, jobs abreast: " + std::to_string(jobs)).c_str(),
              static_cast<double>(bytes) / 1e3);
  for (const std::string& target : targets) {
    if (!msdump::kernels::choose_cpu_target(target)) continue;
    std::printf(" %8.2f", measure(src.size(), [&] {
                  std::vector<msdump::kernels::Md5State> states(jobs);
                  std::vector<msdump::kernels::Md5Job> work;
                  for (size_t i = 0; i < jobs; ++i) work.push_back({&states[i], src.data() + i * bytes, bytes});
                  msdump::kernels::md5_update(work);
                }));
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  std::printf(" %8.2f\n", measure(src.size(), [&] {
                for (size_t i = 0; i < jobs; ++i) {
                  EVP_Digest(src.data() + i * bytes, bytes, digest, nullptr, EVP_md5(), nullptr);
                }
              }));
}

void run_sha1(size_t bytes) {
  const Bytes src = pattern(bytes);
  for (const std::string target : {"", "scalar"}) {
    if (!msdump::kernels::choose_cpu_target(target)) continue;
    std::printf("%-42s %8.1f KB %8.2f\n", target.empty() ? "sha1" : "sha1, portable", static_cast<double>(bytes) / 1e3,
                measure(bytes, [&] { [[maybe_unused]] const auto digest = msdump::kernels::sha1(src); }));
  }
}

struct ReduceCase {
  const char* name;
  msdump::kernels::ReduceRule rule;
  size_t chunks;
  size_t elements;  // of each chunk
};

// Floats of either sign of magnitude about 1: their squares are ordinary numbers as well.
Bytes ordinary_pattern(DType dtype, size_t size) {
  Bytes bytes = pattern(size);
  if (dtype == DType::kInt8 || dtype == DType::kInt64) return bytes;
  const size_t width = static_cast<size_t>(msdump::info(dtype).bits) / 8;
  for (size_t last = width - 1; last < size; last += width) {
    bytes[last] = (bytes[last] & std::byte{0x80}) | std::byte{0x3F};
    bytes[last - 1] |= std::byte{0xC0};
  }
  return bytes;
}

void run_reduce(const ReduceCase& item, DType dtype, const std::vector<std::string>& targets) {
  const size_t chunk_bytes = item.elements * static_cast<size_t>(msdump::info(dtype).bits) / 8;
  const Bytes src = ordinary_pattern(dtype, item.chunks * chunk_bytes);
  Bytes flat(src.size());
  std::vector<msdump::kernels::ChunkStatistics> states(item.chunks);
  std::vector<msdump::kernels::ReduceLane> lanes;
  for (size_t i = 0; i < item.chunks; ++i) {
    lanes.push_back({dtype, src.data() + i * chunk_bytes, static_cast<int64_t>(item.elements), &states[i]});
  }
  std::printf("%-42s %8.1f KB", ("reduce " + std::string(msdump::name_of(dtype)) + ", " + item.name).c_str(),
              static_cast<double>(src.size()) / 1e3);
  for (const std::string& target : targets) {
    if (!msdump::kernels::choose_cpu_target(target)) continue;
    const auto work = [&] {
      for (auto& state : states) state = msdump::kernels::start_statistics(item.rule);
      msdump::kernels::reduce(lanes, item.rule);
    };
    std::printf(" %8.2f", measure(src.size(), work));
  }
  std::printf(" %8.2f\n", measure(src.size(), [&] { std::memcpy(flat.data(), src.data(), src.size()); }));
}

std::vector<ReduceCase> reduce_cases() {
  const msdump::kernels::ReduceRule plain;
  const msdump::kernels::ReduceRule oldest = {
      .finite_only = true, .running_mean = true, .finite_start = true, .squares = false};
  const msdump::kernels::ReduceRule extremes = {.sum = false, .squares = false, .counts = false};
  return {{"rule C, 16 chunks (in cache)", plain, 16, 16384},
          {"rule C, 2048 chunks", plain, 2048, 20480},
          {"rule C, 3 chunks", plain, 3, 16384},
          {"rule C, 1 chunk", plain, 1, 16384},
          {"rule A, 16 chunks", oldest, 16, 16384},
          {"rule C extremes, 16 chunks", extremes, 16, 16384}};
}

enum class Noise { kNone, kSome, kAll };

// a as b but for the last bits: of all elements, of each 16th block, of none.
void run_pair(const char* name, DType dtype, Noise noise, bool quantiles, size_t bytes,
              const std::vector<std::string>& targets) {
  const Bytes b = ordinary_pattern(dtype, bytes);
  Bytes a = b, flat(bytes);
  const size_t width = static_cast<size_t>(msdump::info(dtype).bits) / 8;
  uint32_t random = 7;
  for (size_t at = 0; at < bytes; at += width) {
    random = random * 1664525U + 1013904223U;
    const bool changed = noise == Noise::kAll || (noise == Noise::kSome && at / width % 16384 < 1024);
    if (changed) a[at] ^= static_cast<std::byte>(random >> 28);
  }
  std::printf("%-42s %8.1f KB", ("pair " + std::string(msdump::name_of(dtype)) + ", " + name).c_str(),
              static_cast<double>(2 * bytes) / 1e3);
  msdump::kernels::PairRule rule;
  rule.rtol = rule.atol = 1e-3;
  rule.quantiles = quantiles;
  for (const std::string& target : targets) {
    if (!msdump::kernels::choose_cpu_target(target)) continue;
    const auto work = [&] {
      msdump::kernels::PairState state;
      msdump::kernels::pair_block(dtype, a.data(), b.data(), static_cast<int64_t>(bytes / width), rule, state);
      if (state.elements == 0) std::printf(" WRONG");
    };
    std::printf(" %8.2f", measure(2 * bytes, work));
  }
  std::printf(" %8.2f\n", measure(2 * bytes, [&] {
                std::memcpy(flat.data(), a.data(), bytes);
                std::memcpy(flat.data(), b.data(), bytes);
              }));
}

void run_pairs(const std::vector<std::string>& targets) {
  constexpr size_t kInCache = size_t{1} << 19, kLarge = size_t{1} << 26, kSmall = 2048;
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kInt8}) {
    run_pair("all differ, in cache", dtype, Noise::kAll, true, kInCache, targets);
    run_pair("all differ", dtype, Noise::kAll, true, kLarge, targets);
  }
  for (const DType dtype : {DType::kFloat64, DType::kInt64}) {
    run_pair("all differ, in cache", dtype, Noise::kAll, true, kInCache, targets);
  }
  run_pair("no quantiles, in cache", DType::kFloat16, Noise::kAll, false, kInCache, targets);
  run_pair("a 16th differs, in cache", DType::kFloat16, Noise::kSome, true, kInCache, targets);
  run_pair("equal, in cache", DType::kFloat16, Noise::kNone, true, kInCache, targets);
  run_pair("equal", DType::kFloat16, Noise::kNone, true, kLarge, targets);
  run_pair("2 KB each", DType::kFloat16, Noise::kAll, true, kSmall, targets);
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> targets(argv + 1, argv + argc);
  if (targets.empty()) targets = {msdump::kernels::cpu_target(), "scalar"};
  std::printf("%s; GB/s of bytes moved or widened\n%-42s %11s", cpu_name().c_str(), "", "");
  for (const std::string& target : targets) std::printf(" %8s", target.c_str());
  std::printf(" %8s\n", "memcpy");
  for (const Case& item : cases()) run_copy(item, targets);
  for (const size_t count : {size_t{1} << 18, size_t{1} << 25}) {
    for (const DType dtype : {DType::kHifloat8, DType::kFloat8E4m3fn, DType::kBfloat16, DType::kComplex32})
      run_widen(dtype, count, targets);
  }
  for (const DType dtype : {DType::kInt4, DType::kUint1}) run_unpack(dtype, size_t{1} << 24, targets);
  for (const ReduceCase& item : reduce_cases()) {
    for (const DType dtype :
         {DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64, DType::kInt8, DType::kInt64})
      run_reduce(item, dtype, targets);
  }
  run_pairs(targets);
  std::printf("%-42s %11s", "", "");
  for (const std::string& target : targets) std::printf(" %8s", target.c_str());
  std::printf(" %8s\n", "OpenSSL");
  for (const unsigned jobs : {1U, 2U, 3U, 4U, 8U, 16U, 64U}) run_md5(jobs, size_t{32} << 10, targets);
  run_md5(16, size_t{1} << 20, targets);
  run_sha1(size_t{32} << 10);
  return 0;
}
