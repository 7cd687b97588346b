#include "compare/match/alignment.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/containers.h"
#include "compare/limits.h"

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

// Search: one search over a[0..n) and b[0..m). Positions count from the ends. After x keys of a and y keys of b, the search
// is on diagonal x - y.
class Search {
 public:
  Search(std::span<const uint64_t> a, std::span<const uint64_t> b)
      : a_(a), b_(b), n_(static_cast<int64_t>(a.size())), m_(static_cast<int64_t>(b.size())) {}

  struct Reached {
    size_t a, b;  // number of keys that the search did not reach
  };
  // Appends the pairs that it finds, the last first.
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

  // The number of keys of a that `edits` edits reach on a diagonal; -1 if they do not reach it.
  [[nodiscard]] int64_t reach(int64_t edits, int64_t diagonal) const {
    const Row& row = rows_[static_cast<size_t>(edits)];
    if (diagonal < row.first || diagonal > row.last || (diagonal - row.first) % 2 != 0) return -1;
    return cells_[row.begin + static_cast<size_t>((diagonal - row.first) / 2)];
  }

  // A row has one more diagonal on each side than the row before. But if the outermost diagonal there has reached the end of
  // a sequence, the shortest path does not lead beyond it. Then the row has one diagonal less on that side.
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

  // True if the keys after x and y are equal.
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

  // Walks from the end of the search back to the ends of both sequences.
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

namespace {

// Limit on gaps inside gaps. Networks need few levels, and each level reads all items again.
constexpr ReachedLimit kNestedLimit = {"alignment_levels", kMostTried,
                                       "operators were aligned without those whose key occurs once"};
constexpr ReachedLimit kCellsLimit = {"alignment_cells", kMostCells,
                                      "operators were not aligned in the best way: the sequences differ too much"};

struct Range {
  uint32_t begin = 0, end = 0;
  [[nodiscard]] uint32_t size() const { return end - begin; }
};
struct Gap {
  Range a, b;
  [[nodiscard]] bool open() const { return a.size() > 0 && b.size() > 0; }
};

class Aligner {
 public:
  Aligner(const std::vector<std::vector<uint64_t>>& a, const std::vector<std::vector<uint64_t>>& b,
          ReachedLimits* limits)
      : a_(a), b_(b), limits_(limits) {}

  std::vector<AlignedPair> run() {
    if (a_.empty()) return {};
    std::vector<Gap> gaps = {{{0, static_cast<uint32_t>(a_[0].size())}, {0, static_cast<uint32_t>(b_[0].size())}}};
    for (level_ = 0; level_ < a_.size(); ++level_) {
      std::vector<Gap> left;
      for (const Gap& gap : gaps) align_gap(gap, left);
      gaps = std::move(left);
    }
    std::sort(pairs_.begin(), pairs_.end(), [](const AlignedPair& x, const AlignedPair& y) { return x.a < y.a; });
    return std::move(pairs_);
  }

 private:
  [[nodiscard]] bool equal(uint32_t a, uint32_t b) const { return a_[level_][a] == b_[level_][b]; }
  void pair(uint32_t a, uint32_t b) { pairs_.push_back({a, b, level_}); }

  // Leaves the gaps that this level does not close in `left`. Uses a stack instead of recursion, because sequences are long.
  void align_gap(const Gap& whole, std::vector<Gap>& left) {
    struct Task {
      Gap gap;
      size_t nested;
    };
    std::vector<Task> work = {{whole, 0}};
    while (!work.empty()) {
      auto [gap, nested] = work.back();
      work.pop_back();
      trim(gap);
      if (!gap.open()) continue;
      const std::vector<AlignedPair> anchors = nested < kMostTried ? unique_in_order(gap) : std::vector<AlignedPair>();
      if (nested >= kMostTried && limits_ != nullptr) limits_->insert(kNestedLimit);
      if (anchors.empty()) {
        align_without_anchors(gap, left);
        continue;
      }
      uint32_t a = gap.a.begin, b = gap.b.begin;
      for (const AlignedPair& anchor : anchors) {
        pair(anchor.a, anchor.b);
        work.push_back({{{a, anchor.a}, {b, anchor.b}}, nested + 1});
        a = anchor.a + 1;
        b = anchor.b + 1;
      }
      work.push_back({{{a, gap.a.end}, {b, gap.b.end}}, nested + 1});
    }
  }

  void trim(Gap& gap) {
    while (gap.open() && equal(gap.a.begin, gap.b.begin)) pair(gap.a.begin++, gap.b.begin++);
    while (gap.open() && equal(gap.a.end - 1, gap.b.end - 1)) pair(--gap.a.end, --gap.b.end);
  }

  // The longest run of items, ascending on both sides, whose keys occur once on each side of the gap.
  [[nodiscard]] std::vector<AlignedPair> unique_in_order(const Gap& gap) const {
    struct Seen {
      uint32_t a = 0, b = 0;
      uint32_t in_a = 0, in_b = 0;
    };
    std::vector<Seen> seen;
    seen.reserve(gap.a.size());
    HashSlots keys(gap.a.size());
    const auto same = [&](uint64_t key) { return [&, key](uint32_t i) { return a_[level_][seen[i].a] == key; }; };
    for (uint32_t i = gap.a.begin; i < gap.a.end; ++i) {
      const uint64_t key = a_[level_][i];
      const uint32_t found = keys.find_or_add(mix_hash(key, 0), static_cast<uint32_t>(seen.size()), same(key));
      if (found == seen.size()) seen.push_back({i, 0, 0, 0});
      ++seen[found].in_a;
    }
    for (uint32_t i = gap.b.begin; i < gap.b.end; ++i) {
      const uint64_t key = b_[level_][i];
      const uint32_t found = keys.find(mix_hash(key, 0), same(key));
      if (found == HashSlots::kNone) continue;
      ++seen[found].in_b;
      seen[found].b = i;
    }
    std::vector<AlignedPair> unique;  // by `a`
    for (const Seen& item : seen) {
      if (item.in_a == 1 && item.in_b == 1) unique.push_back({item.a, item.b, level_});
    }
    return longest_ascending(unique);
  }

  // The longest run of pairs that ascends in `b`, too; `pairs` are sorted by `a`.
  static std::vector<AlignedPair> longest_ascending(const std::vector<AlignedPair>& pairs) {
    std::vector<uint32_t> ends;  // by length: the pair with the smallest b that ends such a run
    std::vector<uint32_t> before(pairs.size());
    for (uint32_t i = 0; i < pairs.size(); ++i) {
      const auto at = std::lower_bound(ends.begin(), ends.end(), i,
                                       [&](uint32_t x, uint32_t y) { return pairs[x].b < pairs[y].b; });
      before[i] = at == ends.begin() ? UINT32_MAX : *(at - 1);
      if (at == ends.end()) {
        ends.push_back(i);
      } else {
        *at = i;
      }
    }
    std::vector<AlignedPair> run;
    for (uint32_t i = ends.empty() ? UINT32_MAX : ends.back(); i != UINT32_MAX; i = before[i]) run.push_back(pairs[i]);
    std::reverse(run.begin(), run.end());
    return run;
  }

  void align_without_anchors(const Gap& gap, std::vector<Gap>& left) {
    const auto keys = [](const std::vector<uint64_t>& all, Range range) {
      return std::span(all).subspan(range.begin, range.size());
    };
    uint32_t a = gap.a.begin, b = gap.b.begin;
    const auto leave = [&](uint32_t end_a, uint32_t end_b) {
      const Gap open{{a, end_a}, {b, end_b}};
      if (open.open()) left.push_back(open);
    };
    bool bounded = false;
    const auto common = common_subsequence(keys(a_[level_], gap.a), keys(b_[level_], gap.b), &bounded);
    if (bounded && limits_ != nullptr) limits_->insert(kCellsLimit);
    for (const auto& [in_a, in_b] : common) {
      leave(gap.a.begin + in_a, gap.b.begin + in_b);
      pair(gap.a.begin + in_a, gap.b.begin + in_b);
      a = gap.a.begin + in_a + 1;
      b = gap.b.begin + in_b + 1;
    }
    leave(gap.a.end, gap.b.end);
  }

  const std::vector<std::vector<uint64_t>>&a_, &b_;
  ReachedLimits* limits_;
  uint32_t level_ = 0;
  std::vector<AlignedPair> pairs_;
};

}  // namespace

std::vector<AlignedPair> align(const std::vector<std::vector<uint64_t>>& keys_a,
                               const std::vector<std::vector<uint64_t>>& keys_b, ReachedLimits* limits) {
  return Aligner(keys_a, keys_b, limits).run();
}

}  // namespace msdump
