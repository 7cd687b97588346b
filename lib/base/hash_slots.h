// HashSlots: a hash table of indices into a vector. The owner of the vector keeps one copy of each item; the table
// allocates nothing per item.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace msdump {

[[nodiscard]] uint64_t text_hash(std::string_view text);

// Mixes another number into a hash. The order matters, and equal numbers do not cancel out.
[[nodiscard]] constexpr uint64_t mix_hash(uint64_t hash, uint64_t value) {
  hash = (hash * 0x9E37'79B9'7F4A'7C15 + value) * 0xFF51'AFD7'ED55'8CCD;
  return hash ^ hash >> 32;
}

// An open-addressing table: eight bytes per slot, at most half of the slots used. A look-up among a million items costs
// one cache miss besides those of the item itself.
class HashSlots {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit HashSlots(size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 2)) {}

  // The index with this hash for which same(index) holds; otherwise adds `next`.
  template <class Same>
  uint32_t find_or_add(uint64_t hash, uint32_t next, const Same& same) {
    const size_t at = find_slot(hash, same);
    if (slots_[at].index != kNone) return slots_[at].index;
    slots_[at] = {tag_of(hash), next};
    if (2 * ++used_ > slots_.size()) grow();
    return next;
  }
  template <class Same>
  [[nodiscard]] uint32_t find(uint64_t hash, const Same& same) const {
    return slots_[find_slot(hash, same)].index;
  }
  [[nodiscard]] uint64_t memory() const { return slots_.capacity() * sizeof(Slot); }
  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[place_of(hash)]); }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t index = kNone;
  };
  // The place follows from the tag alone, so growing needs no hashes.
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  [[nodiscard]] size_t place_of(uint64_t hash) const { return (hash >> 32) * kSpread >> 11 & (slots_.size() - 1); }

  template <class Same>
  [[nodiscard]] size_t find_slot(uint64_t hash, const Same& same) const {
    size_t at = place_of(hash);
    while (slots_[at].index != kNone && (slots_[at].tag != tag_of(hash) || !same(slots_[at].index)))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow();

  static constexpr uint64_t kSpread = 0x9E37'79B9'7F4A'7C15;
  std::vector<Slot> slots_;  // the size is a power of two
  size_t used_ = 0;
};

}  // namespace msdump
