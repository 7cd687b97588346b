#include "kernels/digest/md5.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/digest/md5_lanes.h"
#include "kernels/digest/md5_steps.h"

namespace msdump::kernels {
namespace {

static_assert(std::endian::native == std::endian::little, "blocks are read as little-endian words");

template <size_t kStep>
[[gnu::always_inline]] inline void step(std::array<uint32_t, 4>& words, const std::array<uint32_t, 16>& message) {
  uint32_t& a = words[md5_word(kStep, 0)];
  const uint32_t b = words[md5_word(kStep, 1)], c = words[md5_word(kStep, 2)], d = words[md5_word(kStep, 3)];
  uint32_t sum = a + message[md5_message(kStep)] + kMd5Sines[kStep];
  if constexpr (kStep < 16) sum += d ^ (b & (c ^ d));
  // b comes last: the half without it is added first. The halves have no bit in common, so + is |.
  if constexpr (kStep >= 16 && kStep < 32) sum = sum + (~d & c) + (d & b);
  if constexpr (kStep >= 32 && kStep < 48) sum += b ^ (c ^ d);
  if constexpr (kStep >= 48) sum += c ^ (b | ~d);
  a = b + std::rotl(sum, md5_rotation(kStep));
}

template <size_t... kStep>
[[gnu::always_inline]] inline void all_steps(std::array<uint32_t, 4>& words, const std::array<uint32_t, 16>& message,
                                             std::index_sequence<kStep...> /*steps*/) {
  (step<kStep>(words, message), ...);
}

// A single lane is slower than the scalar form; two are faster on all targets measured.
constexpr size_t kWorthWhile = 2;

// The whole blocks of a job that are not yet in its state.
struct Work {
  Md5State* state;
  const std::byte* at;
  size_t blocks;
};

// Completes the tail of an earlier update, keeps the bytes after the last whole block as the next tail, and returns the
// blocks between.
Work begin_job(const Md5Job& job) {
  Md5State& state = *job.state;
  const auto waiting = static_cast<size_t>(state.bytes % kMd5Block);
  state.bytes += job.size;
  const std::byte* at = job.data;
  size_t left = job.size;
  if (waiting > 0) {
    const size_t taken = std::min(left, kMd5Block - waiting);
    if (taken > 0) std::memcpy(state.tail.data() + waiting, at, taken);
    if (waiting + taken < kMd5Block) return {&state, nullptr, 0};
    md5_compress(state.words, state.tail.data(), 1);
    at += taken;
    left -= taken;
  }
  const size_t blocks = left / kMd5Block, rest = left % kMd5Block;
  if (rest > 0) std::memcpy(state.tail.data(), at + blocks * kMd5Block, rest);
  return {&state, at, blocks};
}

// Advances all lanes by as many blocks as the shortest job has.
void advance(std::span<Work> abreast) {
  Md5Lanes lanes;
  size_t blocks = abreast[0].blocks;
  for (size_t lane = 0; lane < abreast.size(); ++lane) {
    blocks = std::min(blocks, abreast[lane].blocks);
    lanes.at[lane] = abreast[lane].at;
    for (size_t w = 0; w < 4; ++w) lanes.words[w][lane] = abreast[lane].state->words[w];
  }
  md5_compress_lanes(lanes, abreast.size(), blocks);
  for (size_t lane = 0; lane < abreast.size(); ++lane) {
    for (size_t w = 0; w < 4; ++w) abreast[lane].state->words[w] = lanes.words[w][lane];
    abreast[lane].at += blocks * kMd5Block;
    abreast[lane].blocks -= blocks;
  }
}

}  // namespace

void md5_compress(std::array<uint32_t, 4>& words, const std::byte* data, size_t blocks) {
  std::array<uint32_t, 4> now = words;
  for (size_t block = 0; block < blocks; ++block) {
    std::array<uint32_t, 16> message;
    std::memcpy(message.data(), data + block * kMd5Block, kMd5Block);
    const std::array<uint32_t, 4> before = now;
    all_steps(now, message, std::make_index_sequence<64>());
    for (size_t w = 0; w < 4; ++w) now[w] += before[w];
  }
  words = now;
}

void md5_update(std::span<const Md5Job> jobs) {
  std::vector<Work> waiting;
  waiting.reserve(jobs.size());
  for (const Md5Job& job : jobs) {
    const Work work = begin_job(job);
    if (work.blocks > 0) waiting.push_back(work);
  }
  // The longest first, so that the lanes end at about the same time.
  std::sort(waiting.begin(), waiting.end(), [](const Work& a, const Work& b) { return a.blocks > b.blocks; });
  const size_t lanes = md5_lanes();
  auto next = waiting.begin();
  std::vector<Work> abreast;
  abreast.reserve(lanes);
  while (true) {
    std::erase_if(abreast, [](const Work& work) { return work.blocks == 0; });
    while (abreast.size() < lanes && next != waiting.end()) abreast.push_back(*next++);
    if (abreast.size() < kWorthWhile) break;
    advance(abreast);
  }
  abreast.insert(abreast.end(), next, waiting.end());  // these are all jobs if there are no lanes
  for (const Work& work : abreast) md5_compress(work.state->words, work.at, work.blocks);
}

std::array<std::byte, 16> md5_finish(Md5State state) {
  // 0x80, zeros, and the number of bits as the last 8 bytes of a block: in this block if they fit, or else in one more.
  const auto waiting = static_cast<size_t>(state.bytes % kMd5Block);
  std::array<std::byte, 2 * kMd5Block> padded{};
  std::memcpy(padded.data(), state.tail.data(), waiting);
  padded[waiting] = std::byte{0x80};
  const size_t size = waiting + 9 <= kMd5Block ? kMd5Block : 2 * kMd5Block;
  const uint64_t bits = state.bytes * 8;  // modulo 2^64, as in the RFC
  std::memcpy(padded.data() + size - 8, &bits, sizeof bits);
  md5_compress(state.words, padded.data(), size / kMd5Block);
  return std::bit_cast<std::array<std::byte, 16>>(state.words);
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<size_t>(byte >> 4)];
    text += kDigits[std::to_integer<size_t>(byte & std::byte{0x0F})];
  }
  return text;
}

}  // namespace msdump::kernels
