// A table with one value for each enumerator of an enum, whose enumerators count from 0. One with a value too few or too many
// does not compile: a new enumerator would read beyond it.
//
//   constexpr auto kNames = enum_table<Color, std::string_view>("red", "green", "blue");
//   kNames[color]
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace msdump {

// True if the enum has a name for the value: compilers write "(Color)3" for one without.
template <auto kValue>
[[nodiscard]] consteval bool is_enumerator() {
  constexpr std::string_view kName = "kValue = ";
  const std::string_view function = __PRETTY_FUNCTION__;
  return function[function.find(kName) + kName.size()] != '(';
}

template <class Enum, class Value, size_t kSize>
struct EnumTable {
  std::array<Value, kSize> values;
  [[nodiscard]] constexpr const Value& operator[](Enum key) const { return values[static_cast<size_t>(key)]; }
};

template <class Enum, class Value, class... Values>
[[nodiscard]] consteval EnumTable<Enum, Value, sizeof...(Values)> enum_table(Values... values) {
  static_assert(is_enumerator<static_cast<Enum>(sizeof...(Values) - 1)>(), "more values than enumerators");
  static_assert(!is_enumerator<static_cast<Enum>(sizeof...(Values))>(), "an enumerator has no value");
  return {{Value(values)...}};
}

// known_first: the sort key for numbers that may be unknown (ranks, graphs, steps): known ones in order, then unknown
// ones. (A plain std::optional would put unknown ones first.)

[[nodiscard]] constexpr std::pair<bool, int64_t> known_first(const std::optional<int64_t>& number) {
  return {!number, number.value_or(0)};
}

// HashSlots: a hash table of indices into a vector. The owner of the vector keeps one copy of each item; the table
// allocates nothing per item.

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

// A list that keeps its first items and counts all: what is wrong with an input, which may be as much as it has lines.

template <class T>
class CappedList {
 public:
  static constexpr size_t kMost = 20;

  void add(T item) {
    ++count_;
    if (!is_full()) first_.push_back(std::move(item));
  }
  void add(CappedList more) {
    count_ += more.count_;
    for (T& item : more.first_) {
      if (!is_full()) first_.push_back(std::move(item));
    }
  }
  void count_more(uint64_t count) { count_ += count; }
  void clear() { *this = {}; }

  [[nodiscard]] bool is_full() const { return first_.size() == kMost; }
  [[nodiscard]] uint64_t count() const { return count_; }  // also of those that were not kept
  [[nodiscard]] const std::vector<T>& first() const { return first_; }

  // Of the first items.
  [[nodiscard]] size_t size() const { return first_.size(); }
  [[nodiscard]] bool empty() const { return first_.empty(); }
  [[nodiscard]] const T& operator[](size_t i) const { return first_[i]; }
  [[nodiscard]] auto begin() const { return first_.begin(); }
  [[nodiscard]] auto end() const { return first_.end(); }
  [[nodiscard]] auto begin() { return first_.begin(); }
  [[nodiscard]] auto end() { return first_.end(); }

 private:
  std::vector<T> first_;
  uint64_t count_ = 0;
};

using ProblemList = CappedList<Error>;

// The first `most` problems; if there are more, also one that counts them: "12 more like these".
[[nodiscard]] std::vector<Error> errors_of(const ProblemList& problems, size_t most = ProblemList::kMost);

// ReachedLimits: the bounds on work and memory that a search hit, so that its answer may not be the one that it would give
// without them.

struct ReachedLimit {
  std::string_view name;  // a stable word of the machine output
  uint64_t limit = 0;
  std::string_view effect;  // what was left out, as a sentence without its end
  auto operator<=>(const ReachedLimit&) const = default;
};
// Each once, by name. The order does not depend on which was hit first.
using ReachedLimits = std::set<ReachedLimit>;

}  // namespace msdump
