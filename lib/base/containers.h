// Small containers: a table by enumerator, a hash table of indices, a list that keeps its first items, and the limits that a
// search reached.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace msdump {

// True if the enum has a name for the value. (Compilers write "(Color)3" for a value without a name.)
template <auto kValue>
[[nodiscard]] consteval bool is_enumerator() {
  constexpr std::string_view kName = "kValue = ";
  const std::string_view function = __PRETTY_FUNCTION__;
  return function[function.find(kName) + kName.size()] != '(';
}

// A value for each enumerator of an enum that counts from 0. A missing or superfluous value does not compile.
//
//   constexpr auto kNames = enum_table<Color, std::string_view>("red", "green", "blue");
//   kNames[color]
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

// Sort key of a number that may be unknown (rank, graph, step): unknown ones come last.
[[nodiscard]] constexpr std::pair<bool, int64_t> known_first(const std::optional<int64_t>& number) {
  return {!number, number.value_or(0)};
}

[[nodiscard]] uint64_t text_hash(std::string_view text);

// Mixes a number into a hash. The order matters, and equal numbers do not cancel.
[[nodiscard]] constexpr uint64_t mix_hash(uint64_t hash, uint64_t value) {
  hash = (hash * 0x9E37'79B9'7F4A'7C15 + value) * 0xFF51'AFD7'ED55'8CCD;
  return hash ^ hash >> 32;
}

// A hash table of indices into a vector that the caller owns. Open addressing, eight bytes a slot, at most half of them used.
// A look-up among a million items costs one cache miss besides those of the item.
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
  // The slot depends on the tag alone, so that growing needs no hashes.
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

// The edges of a graph by their first end, all in one list. Empty lists for every end if it was made of none.
template <class T>
class EdgeLists {
 public:
  EdgeLists() = default;
  // `each_edge(visit)` calls visit(from, to) for every edge, with from < count; it is called twice. The order is kept.
  template <class EachEdge>
  EdgeLists(size_t count, const EachEdge& each_edge) : first_(count + 1) {
    each_edge([&](size_t from, const T&) { ++first_[from + 1]; });
    for (size_t i = 0; i < count; ++i) first_[i + 1] += first_[i];
    to_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    each_edge([&](size_t from, const T& to) { to_[next[from]++] = to; });
  }

  [[nodiscard]] bool empty() const { return first_.empty(); }
  [[nodiscard]] std::span<const T> of(size_t from) const {
    if (first_.empty()) return {};
    return std::span<const T>(to_).subspan(first_[from], first_[from + 1] - first_[from]);
  }

 private:
  std::vector<uint32_t> first_;  // where the edges of each end begin, and the end
  std::vector<T> to_;
};

// A list that keeps its first items and counts all, for problems of an input, of which there may be one a line.
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
  [[nodiscard]] uint64_t count() const { return count_; }  // of all items
  [[nodiscard]] const std::vector<T>& first() const { return first_; }

  // The first items as a container.
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

// The first `most` problems, and if there are more, one that counts them: "12 more like these".
[[nodiscard]] std::vector<Error> errors_of(const ProblemList& problems, size_t most = ProblemList::kMost);

// A bound on work or memory that a search reached. Without it, the answer might be another.
struct ReachedLimit {
  std::string_view name;  // a stable word of the machine output
  uint64_t limit = 0;
  std::string_view effect;  // what was left out: a sentence without a full stop
  auto operator<=>(const ReachedLimit&) const = default;
};
// Each limit once, by name.
using ReachedLimits = std::set<ReachedLimit>;

}  // namespace msdump
