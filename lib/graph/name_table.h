// Names as keys: '/', '\', '.' and blanks count as '_', and the name of an operator is its scope, its leaf and perhaps
// another number, one behind the other. A million of them on each side of a join, so that nothing here allocates by name.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// One name at a time, normalised; views are of the last one.
class NormalName {
 public:
  NormalName() = default;
  explicit NormalName(std::string_view name) { assign(name); }

  void assign(std::string_view name);
  // Of an operator in files: with `number` in place of its own unless that is kNoIndex.
  void assign(const OpGraph& graph, OpId op, uint32_t number);

  [[nodiscard]] std::string_view full() const { return text_; }
  [[nodiscard]] std::string_view leaf() const { return full().substr(leaf_begin_); }

 private:
  std::string text_;
  size_t leaf_begin_ = 0;
};

// Of a normalised name.
[[nodiscard]] uint64_t name_hash(std::string_view normal);
// Is `normal`, which is normalised, the name `written`?
[[nodiscard]] bool is_name(std::string_view normal, std::string_view written);
[[nodiscard]] bool same_name(std::string_view written, std::string_view other);

// An open hash table of the indices of things that their owner keeps in a vector: eight bytes a thing at most half of them
// used, so that a look-up of a million costs one miss of the cache besides those of the thing itself.
class HashSlots {
 public:
  explicit HashSlots(size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 2)) {}

  // The index for which same(index) holds, among those with this hash; else `next`, which is added.
  template <class Same>
  uint32_t find_or_add(uint64_t hash, uint32_t next, const Same& same) {
    const size_t at = find_slot(hash, same);
    if (slots_[at].index != kNoIndex) return slots_[at].index;
    slots_[at] = {tag_of(hash), next};
    if (2 * ++used_ > slots_.size()) grow();
    return next;
  }
  template <class Same>
  [[nodiscard]] uint32_t find(uint64_t hash, const Same& same) const {
    return slots_[find_slot(hash, same)].index;
  }
  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[place_of(hash)]); }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t index = kNoIndex;
  };
  // The place follows from the tag alone: a table that grows needs no hashes again.
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  [[nodiscard]] size_t place_of(uint64_t hash) const { return (hash >> 32) * kSpread >> 11 & (slots_.size() - 1); }

  template <class Same>
  [[nodiscard]] size_t find_slot(uint64_t hash, const Same& same) const {
    size_t at = place_of(hash);
    while (slots_[at].index != kNoIndex && (slots_[at].tag != tag_of(hash) || !same(slots_[at].index)))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow();

  static constexpr uint64_t kSpread = 0x9E37'79B9'7F4A'7C15;
  std::vector<Slot> slots_;  // a power of two
  size_t used_ = 0;
};

// Values by hash; several may share one. Built once, then read.
class HashIndex {
 public:
  struct Entry {
    uint64_t hash;
    uint32_t value;
  };
  void reserve(size_t count) { entries_.reserve(count); }
  void add(uint64_t hash, uint32_t value) { entries_.push_back({hash, value}); }
  void close();  // sorts: by hash, then value
  [[nodiscard]] std::pair<const Entry*, const Entry*> equal(uint64_t hash) const;

 private:
  unsigned shift_ = 63;  // what is left of a hash is a bucket
  std::vector<Entry> entries_;
  std::vector<uint32_t> buckets_;  // where their entries begin; one more
};

}  // namespace msdump
