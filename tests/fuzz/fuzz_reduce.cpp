// Bytes become chunks of tensors; reduce on every CPU target, with the chunks cut into slabs, against reduce_reference
// on whole chunks. Results are compared bit for bit. Each chunk's data has the exact size: a load beyond it is the
// sanitizer's.
//
//   byte 0     flags of the rule
//   byte 1     lanes (mod 20)
//   then per lane: dtype (mod those that can be reduced), elements / 3, where the first slab ends / 256
//   the rest   the elements of all lanes, over and over again; each time round with a bit changed
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/reduce/reduce.h"

namespace {

using namespace msdump;
using namespace msdump::kernels;

struct Chunk {
  DType dtype = DType::kFloat32;
  int64_t element_bytes = 1, count = 0, cut = 0;
  std::unique_ptr<std::byte[]> data;  // an allocation of its own
};

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t next() { return at_ < size_ ? data_[at_++] : uint8_t{0}; }

  void begin_elements() { first_ = at_; }

  std::byte next_of_elements() {
    if (first_ >= size_) return std::byte{0};
    if (at_ >= size_) {
      at_ = first_;
      ++round_;
    }
    const unsigned flipped = round_ == 0 ? 0 : 1U << ((round_ + at_) & 7U);
    return static_cast<std::byte>(data_[at_++] ^ (round_ % 3 == 0 ? flipped : 0));
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0, first_ = 0;
  unsigned round_ = 0;
};

ReduceRule make_rule(unsigned flags) {
  const auto flag = [flags](unsigned bit) { return (flags >> bit & 1U) != 0; };
  return {.finite_only = flag(0),
          .running_mean = flag(1),
          .finite_start = flag(2),
          .negative_default_nan = flag(3),
          .sum = !flag(4),
          .squares = !flag(5),
          .extremes = !flag(6),
          .counts = !flag(7)};
}

std::vector<Chunk> make_chunks(Input& input) {
  static const std::vector<DType> dtypes = [] {
    std::vector<DType> result;
    for (const DTypeInfo& entry : all_dtypes()) {
      if (can_reduce(entry.dtype)) result.push_back(entry.dtype);
    }
    return result;
  }();
  std::vector<Chunk> chunks(input.next() % 20);
  for (Chunk& chunk : chunks) {
    chunk.dtype = dtypes[input.next() % dtypes.size()];
    chunk.element_bytes = info(chunk.dtype).bits < 8 ? 1 : info(chunk.dtype).bits / 8;
    chunk.count = int64_t{3} * input.next();
    chunk.cut = chunk.count * input.next() / 256;
  }
  input.begin_elements();
  for (Chunk& chunk : chunks) {
    const auto bytes = static_cast<size_t>(chunk.count * chunk.element_bytes);
    chunk.data = std::make_unique<std::byte[]>(bytes);
    const bool is_code = chunk.dtype == DType::kFloat4E1m2 || chunk.dtype == DType::kFloat4E2m1;
    for (size_t i = 0; i < bytes; ++i) chunk.data[i] = input.next_of_elements() & std::byte(is_code ? 0x0F : 0xFF);
  }
  return chunks;
}

ReduceLane piece(const Chunk& chunk, int64_t first, int64_t last, ChunkStatistics& state) {
  return {chunk.dtype, chunk.data.get() + first * chunk.element_bytes, last - first, &state};
}

std::vector<ChunkStatistics> reduced(const std::vector<Chunk>& chunks, const ReduceRule& rule) {
  std::vector<ChunkStatistics> states(chunks.size(), start_statistics(rule));
  std::vector<ReduceLane> before, after;
  for (size_t i = 0; i < chunks.size(); ++i) {
    before.push_back(piece(chunks[i], 0, chunks[i].cut, states[i]));
    after.push_back(piece(chunks[i], chunks[i].cut, chunks[i].count, states[i]));
  }
  reduce(before, rule);
  reduce(after, rule);
  return states;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const ReduceRule rule = make_rule(input.next());
  const std::vector<Chunk> chunks = make_chunks(input);

  std::vector<ChunkStatistics> expected(chunks.size(), start_statistics(rule));
  for (size_t i = 0; i < chunks.size(); ++i) {
    const ReduceLane whole = piece(chunks[i], 0, chunks[i].count, expected[i]);
    reduce_reference({&whole, 1}, rule);
  }
  for (const std::string& target : available_cpu_targets()) {
    if (!choose_cpu_target(target)) std::abort();
    const std::vector<ChunkStatistics> actual = reduced(chunks, rule);
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (std::memcmp(&actual[i], &expected[i], sizeof expected[i]) == 0) continue;
      std::fprintf(stderr, "%s differs from the reference in chunk %zu\n", target.c_str(), i);
      std::abort();
    }
  }
  return 0;
}
