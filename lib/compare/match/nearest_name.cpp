#include "compare/match/nearest_name.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr size_t kMostNames = 2000;  // that are compared with
constexpr size_t kMostAsked = 1000;  // of a side
constexpr size_t kLongest = 1024;    // no operator's name is longer

std::string plain_name(std::string_view name) { return to_lower(normalised_op_name(name)); }

// The name asked for, ready to be compared with many others.
class Pattern {
 public:
  explicit Pattern(std::string name) : name_(std::move(name)), words_(name_.size() / 64 + 2), rows_(words_) {
    place_.fill(0);
    masks_.resize(words_);  // of characters that it does not have
    for (size_t i = 0; i < name_.size(); ++i) {
      uint32_t& place = place_[static_cast<uint8_t>(name_[i])];
      if (place == 0) {
        place = static_cast<uint32_t>(masks_.size());
        masks_.resize(masks_.size() + words_);
      }
      masks_[place + i / 64] |= uint64_t{1} << (i % 64);
    }
  }

  [[nodiscard]] size_t size() const { return name_.size(); }

  // The distance if it is at most `bound`, else something larger.
  [[nodiscard]] size_t distance(std::string_view other, size_t bound) {
    const size_t gap = other.size() > size() ? other.size() - size() : size() - other.size();
    if (gap > bound) return gap;
    const size_t common = std::min(other.size(), size());
    const auto end = std::mismatch(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(common), name_.begin());
    const auto begin = static_cast<size_t>(end.first - other.begin());
    size_t behind = 0;
    while (behind < common - begin && other[other.size() - 1 - behind] == name_[size() - 1 - behind]) ++behind;
    return distance_between(begin, size() - behind, other.substr(begin, other.size() - behind - begin), bound);
  }

 private:
  // What is kept of a row of the table for 64 cells: where its values differ by one from the cell before (up, down), and
  // where they are those of the diagonal.
  struct Row {
    uint64_t up = 0, down = 0, diagonal = 0, mask = 0;
  };

  // 64 cells of the characters from `begin` on: which of them are `c`?
  [[nodiscard]] uint64_t mask_of(char c, size_t begin) const {
    const uint64_t* const words = masks_.data() + place_[static_cast<uint8_t>(c)] + begin / 64;
    return begin % 64 == 0 ? words[0] : words[0] >> (begin % 64) | words[1] << (64 - begin % 64);
  }

  size_t distance_between(size_t begin, size_t end, std::string_view other, size_t bound) {
    size_t distance = end - begin;
    if (distance == 0) return other.size();
    const size_t words = (distance + 63) / 64;
    for (size_t word = 0; word < words; ++word) rows_[word] = {~uint64_t{0}, 0, 0, 0};
    const uint64_t last = uint64_t{1} << ((distance - 1) % 64);
    for (size_t i = 0; i < other.size(); ++i) {
      const int change = add_row(other[i], begin, words, last);
      distance = change > 0 ? distance + 1 : change < 0 ? distance - 1 : distance;
      // Each further character takes off one at most.
      if (distance > bound + (other.size() - 1 - i)) return distance;
    }
    return distance;
  }

  // The next row; by how much its last cell is more than that of the row before.
  int add_row(char c, size_t begin, size_t words, uint64_t last) {
    uint64_t carry_up = 1, carry_down = 0;  // cell -1 of a row is its number
    uint64_t swap_below = 0;                // of the 64 cells before
    int change = 0;
    for (size_t word = 0; word < words; ++word) {
      Row& row = rows_[word];
      const uint64_t mask = mask_of(c, begin + 64 * word);
      const uint64_t may_swap = ~row.diagonal & mask;
      const uint64_t swapped = (may_swap << 1 | swap_below) & row.mask;
      swap_below = may_swap >> 63;
      const uint64_t equal = mask | carry_down;
      row.diagonal = (((equal & row.up) + row.up) ^ row.up) | equal | row.down | swapped;
      row.mask = mask;
      const uint64_t more = row.down | ~(row.diagonal | row.up), less = row.diagonal & row.up;
      if (word + 1 == words) change = (more & last) != 0 ? 1 : (less & last) != 0 ? -1 : 0;
      const uint64_t more_before = more << 1 | carry_up, less_before = less << 1 | carry_down;
      carry_up = more >> 63;
      carry_down = less >> 63;
      row.up = less_before | ~(row.diagonal | more_before);
      row.down = more_before & row.diagonal;
    }
    return change;
  }

  const std::string name_;
  const size_t words_;               // of a mask: one more than the name needs
  std::array<uint32_t, 256> place_;  // by character: of its mask in `masks_`
  std::vector<uint64_t> masks_;
  std::vector<Row> rows_;
};

}  // namespace

NearestNames::NearestNames(const std::vector<SequencedOp>& operators) {
  for (size_t i = 0; i < operators.size() && i < kMostNames; ++i) names_.push_back(plain_name(operators[i].name));
}

uint32_t NearestNames::nearest(std::string_view name) const {
  if (name.size() > kLongest) return kNoOperator;
  Pattern pattern(plain_name(name));
  uint32_t nearest = kNoOperator;
  size_t bound = pattern.size() / 3 + 1;
  for (uint32_t i = 0; i < names_.size() && bound > 0; ++i) {
    const size_t distance = pattern.distance(names_[i], bound - 1);
    if (distance >= bound) continue;
    bound = distance;
    nearest = i;
  }
  return nearest;
}

std::vector<uint32_t> nearest_names(const Pairing& pairing, WorkerPool& pool) {
  std::vector<uint32_t> result(pairing.operators.size(), kNoOperator), asked;
  size_t of_a = 0, of_b = 0;
  for (uint32_t i = 0; i < pairing.operators.size(); ++i) {
    const OpPair& pair = pairing.operators[i];
    if (pair.a != kNoOperator && pair.b != kNoOperator) continue;
    const bool has_tensors = !(pair.a != kNoOperator ? pairing.a[pair.a] : pairing.b[pair.b]).tensors.empty();
    size_t& before = pair.a != kNoOperator ? of_a : of_b;
    if (has_tensors && before++ < kMostAsked) asked.push_back(i);
  }
  if (asked.empty()) return result;
  const NearestNames names_a(pairing.a), names_b(pairing.b);
  pool.parallel_for(static_cast<int64_t>(asked.size()), [&](int64_t index) {
    const uint32_t place = asked[static_cast<size_t>(index)];
    const OpPair& pair = pairing.operators[place];
    result[place] =
        pair.a != kNoOperator ? names_b.nearest(pairing.a[pair.a].name) : names_a.nearest(pairing.b[pair.b].name);
  });
  return result;
}

}  // namespace msdump
