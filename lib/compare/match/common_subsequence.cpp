#include "compare/match/common_subsequence.h"

#include <algorithm>
#include <unordered_set>

namespace msdump {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// The items whose key is in `other`, and their keys.
struct Shared {
  std::vector<uint32_t> items;
  std::vector<uint64_t> keys;

  Shared(std::span<const uint64_t> own, std::span<const uint64_t> other) {
    const std::unordered_set<uint64_t> known(other.begin(), other.end());
    for (uint32_t i = 0; i < own.size(); ++i) {
      if (!known.contains(own[i])) continue;
      items.push_back(i);
      keys.push_back(own[i]);
    }
  }
};

// One search over a[0..n) and b[0..m). Positions count from the ends: after x keys of a and y keys of b the diagonal is
// x - y.
class Search {
 public:
  Search(std::span<const uint64_t> a, std::span<const uint64_t> b)
      : a_(a), b_(b), n_(static_cast<int64_t>(a.size())), m_(static_cast<int64_t>(b.size())) {}

  struct Reached {
    size_t a, b;  // keys that the search did not reach
  };
  // Appends the pairs that it found, the last first.
  Reached run(Pairs& pairs) {
    int64_t edits = 0;
    add_row(0);
    const size_t most_cells = kMostCells + 4 * static_cast<size_t>(n_ + m_);
    while (reach(edits, n_ - m_) < n_ && cells_.size() < most_cells) add_row(++edits);
    const int64_t diagonal = reach(edits, n_ - m_) == n_ ? n_ - m_ : furthest_diagonal(edits);
    const int64_t x = reach(edits, diagonal), y = x - diagonal;
    walk_back(x, y, edits, pairs);
    return {static_cast<size_t>(n_ - x), static_cast<size_t>(m_ - y)};
  }

 private:
  struct Row {
    uint32_t begin;       // in cells_
    int32_t first, last;  // diagonals, every second one
  };

  // How many keys of a `edits` edits reach on a diagonal; -1 if they do not reach it.
  [[nodiscard]] int64_t reach(int64_t edits, int64_t diagonal) const {
    const Row& row = rows_[static_cast<size_t>(edits)];
    if (diagonal < row.first || diagonal > row.last || (diagonal - row.first) % 2 != 0) return -1;
    return cells_[row.begin + static_cast<size_t>((diagonal - row.first) / 2)];
  }

  // A row has one more diagonal on each side than the row before, unless the outermost diagonal there has reached the
  // end of a sequence: the shortest way does not lead beyond it, and the row has one diagonal less on that side.
  void add_row(int64_t edits) {
    Row row{static_cast<uint32_t>(cells_.size()), 0, 0};
    if (edits > 0) {
      const Row& before = rows_.back();
      row.first = before.first + (reach(edits - 1, before.first) - before.first == m_ ? 1 : -1);
      row.last = before.last + (reach(edits - 1, before.last) == n_ ? -1 : 1);
    }
    for (int64_t diagonal = row.first; diagonal <= row.last; diagonal += 2) {
      int64_t x = 0;
      if (edits > 0) {
        const int64_t skip_a = reach(edits - 1, diagonal - 1), skip_b = reach(edits - 1, diagonal + 1);
        x = std::min(std::max(skip_a + (skip_a < 0 ? 0 : 1), skip_b), std::min(n_, m_ + diagonal));
      }
      while (x < n_ && x - diagonal < m_ && equal(x, x - diagonal)) ++x;
      cells_.push_back(static_cast<int32_t>(x));
    }
    rows_.push_back(row);
  }

  // Are the next keys after x and y equal?
  [[nodiscard]] bool equal(int64_t x, int64_t y) const {
    return a_[static_cast<size_t>(n_ - x - 1)] == b_[static_cast<size_t>(m_ - y - 1)];
  }

  [[nodiscard]] int64_t furthest_diagonal(int64_t edits) const {
    const Row& row = rows_[static_cast<size_t>(edits)];
    int64_t best = row.first;
    for (int64_t diagonal = best; diagonal <= row.last; diagonal += 2) {
      if (2 * reach(edits, diagonal) - diagonal > 2 * reach(edits, best) - best) best = diagonal;
    }
    return best;
  }

  // From the end of the search to the ends of both.
  void walk_back(int64_t x, int64_t y, int64_t edits, Pairs& pairs) const {
    Pairs found;
    while (x > 0 || y > 0) {
      if (x > 0 && y > 0 && equal(x - 1, y - 1)) {
        found.emplace_back(static_cast<uint32_t>(n_ - x), static_cast<uint32_t>(m_ - y));
        --x;
        --y;
        continue;
      }
      --edits;
      if (x > 0 && reach(edits, x - 1 - y) >= x - 1) {
        --x;
      } else {
        --y;
      }
    }
    pairs.insert(pairs.end(), found.rbegin(), found.rend());
  }

  const std::span<const uint64_t> a_, b_;
  const int64_t n_, m_;
  std::vector<int32_t> cells_;
  std::vector<Row> rows_;  // by edits
};

}  // namespace

Pairs common_subsequence(std::span<const uint64_t> a, std::span<const uint64_t> b, bool* bounded) {
  const Shared in_a(a, b), in_b(b, a);
  std::span<const uint64_t> left_a = in_a.keys, left_b = in_b.keys;
  Pairs pairs;
  for (size_t search = 0; search < kMostSearches && !left_a.empty() && !left_b.empty(); ++search) {
    const Search::Reached left = Search(left_a, left_b).run(pairs);
    left_a = left_a.first(left.a);
    left_b = left_b.first(left.b);
    if (bounded != nullptr && !left_a.empty() && !left_b.empty()) *bounded = true;
  }
  std::reverse(pairs.begin(), pairs.end());
  for (auto& [of_a, of_b] : pairs) {
    of_a = in_a.items[of_a];
    of_b = in_b.items[of_b];
  }
  return pairs;
}

}  // namespace msdump
