#include "compare/match/alignment.h"

#include <algorithm>
#include <span>

#include "base/hash_slots.h"
#include "compare/match/common_subsequence.h"

namespace msdump {
namespace {

// Gaps inside gaps: networks need few levels, and each level reads all items again.
constexpr int kMostNested = 64;
constexpr ReachedLimit kNestedLimit = {"alignment_levels", kMostNested,
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

  // Gaps that this level leaves open go to `left`. A stack, not recursion: sequences are long.
  void align_gap(const Gap& whole, std::vector<Gap>& left) {
    struct Task {
      Gap gap;
      int nested;
    };
    std::vector<Task> work = {{whole, 0}};
    while (!work.empty()) {
      auto [gap, nested] = work.back();
      work.pop_back();
      trim(gap);
      if (!gap.open()) continue;
      const std::vector<AlignedPair> anchors = nested < kMostNested ? unique_in_order(gap) : std::vector<AlignedPair>();
      if (nested >= kMostNested && limits_ != nullptr) limits_->insert(kNestedLimit);
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

  // Items whose key occurs once on each side of the gap: the longest run of them that ascends on both sides.
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

  // By `b`; the pairs are sorted by `a`.
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
