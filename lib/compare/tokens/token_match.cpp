#include "compare/tokens/token_match.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>

#include "compare/sides.h"

namespace msdump {
namespace {

using Tokens = std::span<const int64_t>;

int64_t common_beginning(Tokens a, Tokens b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

class Matcher {
 public:
  Matcher(const std::vector<TokenSequence>& a, const std::vector<TokenSequence>& b)
      : sequences_{&a, &b}, taken_{std::vector<bool>(a.size()), std::vector<bool>(b.size())} {}

  TokenMatch run() {
    take_equal();
    const auto none = [](const TokenSequence&) { return int64_t{0}; };
    const auto pads = [](const TokenSequence& one) { return equal_in_front(one); };
    // The first token may be the one that pads are made of.
    const auto but_one = [](const TokenSequence& one) { return std::max<int64_t>(0, equal_in_front(one) - 1); };
    take_alike(none, true);
    take_alike(pads, true);
    take_alike(but_one, true);
    take_parts(false);
    take_alike(none, false);
    take_alike(pads, false);
    take_parts(true);
    std::sort(result_.sequences.begin(), result_.sequences.end(),
              [](const MatchedSequence& x, const MatchedSequence& y) {
                return std::pair(x.b, x.begin) < std::pair(y.b, y.begin);
              });
    return std::move(result_);
  }

 private:
  [[nodiscard]] const TokenSequence& sequence(Side side, uint32_t number) const { return (*sequences_[side])[number]; }
  [[nodiscard]] uint32_t count(Side side) const { return static_cast<uint32_t>(sequences_[side]->size()); }

  void take(uint32_t a, uint32_t b, int64_t begin, int64_t tokens, int64_t shift) {
    taken_.a[a] = taken_.b[b] = true;
    parts_.a[a].emplace_back(begin + shift, begin + shift + tokens);
    parts_.b[b].emplace_back(begin, begin + tokens);
    result_.sequences.push_back({a, b, begin, tokens, shift});
    result_.tokens += tokens;
  }

  void take_equal() {
    std::multimap<uint64_t, uint32_t> of_b;
    const auto hash_of = [](const TokenSequence& one) {
      return std::accumulate(one.ids.begin(), one.ids.end(), KnownBeginnings::with(0, one.first),
                             KnownBeginnings::with);
    };
    for (uint32_t b = 0; b < count(Side::kReference); ++b) of_b.emplace(hash_of(sequence(Side::kReference, b)), b);
    for (uint32_t a = 0; a < count(Side::kCandidate); ++a) {
      const TokenSequence& one = sequence(Side::kCandidate, a);
      const uint64_t hash = hash_of(one);
      for (auto found = of_b.lower_bound(hash); found != of_b.end() && found->first == hash; ++found) {
        if (sequence(Side::kReference, found->second) != one) continue;
        take(a, found->second, one.first, static_cast<int64_t>(one.ids.size()), 0);
        of_b.erase(found);
        break;
      }
    }
  }

  // A sequence in the order of their tokens.
  struct Entry {
    Side side = Side::kCandidate;
    uint32_t number = 0;
    int64_t skipped = 0;  // tokens in front that do not count
    Tokens tokens;
    size_t before = SIZE_MAX, after = SIZE_MAX;  // of those that are left
    bool left = true;
  };

  // Takes pairs by their common beginnings, the longest first. Where one sequence is the beginning of another, it lies beside
  // it in the order of their tokens, once the sequences between them are taken.
  template <class Skipped>
  void take_alike(const Skipped& skipped, bool whole) {
    std::vector<Entry> entries;
    for (const Side side : kBothSides) {
      for (uint32_t i = 0; i < count(side); ++i) {
        const TokenSequence& one = sequence(side, i);
        if (taken_[side][i] || one.first != 0) continue;
        const int64_t less = skipped(one);
        entries.push_back({side, i, less, Tokens(one.ids).subspan(static_cast<size_t>(less))});
      }
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) {
      return std::lexicographical_compare(x.tokens.begin(), x.tokens.end(), y.tokens.begin(), y.tokens.end());
    });
    // Whole beginnings and longer ones first, then in order.
    using Near = std::tuple<int64_t, size_t, size_t>;
    const auto later = [](const Near& x, const Near& y) {
      return std::tuple(std::get<0>(x), std::get<1>(y)) < std::tuple(std::get<0>(y), std::get<1>(x));
    };
    std::priority_queue<Near, std::vector<Near>, decltype(later)> near(later);
    const auto consider = [&](size_t x, size_t y) {
      if (x == SIZE_MAX || y == SIZE_MAX || entries[x].side == entries[y].side) return;
      const int64_t common = common_beginning(entries[x].tokens, entries[y].tokens);
      const auto shorter = static_cast<int64_t>(std::min(entries[x].tokens.size(), entries[y].tokens.size()));
      const bool enough = common > 1 && (whole ? common == shorter : 2 * common >= shorter);
      if (enough) near.emplace(common, x, y);
    };
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) entries[i].before = i - 1;
      if (i + 1 < entries.size()) entries[i].after = i + 1;
      if (i > 0) consider(i - 1, i);
    }
    const auto remove = [&](size_t i) {
      Entry& one = entries[i];
      one.left = false;
      if (one.before != SIZE_MAX) entries[one.before].after = one.after;
      if (one.after != SIZE_MAX) entries[one.after].before = one.before;
    };
    while (!near.empty()) {
      const auto [common, x, y] = near.top();
      near.pop();
      if (!entries[x].left || !entries[y].left) continue;
      const Entry& a = entries[x].side == Side::kCandidate ? entries[x] : entries[y];
      const Entry& b = entries[x].side == Side::kCandidate ? entries[y] : entries[x];
      take(a.number, b.number, b.skipped, common, a.skipped - b.skipped);
      const size_t before = entries[x].before, after = entries[y].after;
      remove(x);
      remove(y);
      consider(before, after);
    }
  }

  // Takes the common tokens of a sequence and another one, in which it begins at a position. False if there are none, if they
  // differ, or if they are taken.
  bool take_part(Side side, uint32_t own, uint32_t other, int64_t position) {
    const TokenSequence &one = sequence(side, own), &whole = sequence(opposite(side), other);
    const int64_t begin = std::max(position, whole.first);
    const int64_t end = std::min(position + static_cast<int64_t>(one.ids.size()), whole.end());
    if (end <= begin) return false;
    const auto part = [&](const TokenSequence& of, int64_t first) {
      return Tokens(of.ids).subspan(static_cast<size_t>(begin - first), static_cast<size_t>(end - begin));
    };
    if (!std::ranges::equal(part(one, position), part(whole, whole.first))) return false;
    std::vector<std::pair<int64_t, int64_t>>& known = parts_[opposite(side)][other];
    const auto overlaps = [&](const std::pair<int64_t, int64_t>& taken) {
      return taken.first < end && begin < taken.second;
    };
    if (std::any_of(known.begin(), known.end(), overlaps)) return false;
    const int64_t shift = one.first - position;  // of the own positions
    if (side == Side::kCandidate) {
      take(own, other, begin, end - begin, shift);
    } else {
      take(other, own, begin + shift, end - begin, -shift);
    }
    return true;
  }

  // Sequences that are parts of others: at the same position, or with `anywhere` at any.
  void take_parts(bool anywhere) {
    uint64_t compared = 0;
    for (const Side side : kBothSides) {
      for (uint32_t i = 0; i < count(side); ++i) {
        const TokenSequence& one = sequence(side, i);
        if (taken_[side][i] || (anywhere && one.ids.size() == 1) || (!anywhere && one.first == 0)) continue;
        for (uint32_t j = 0; j < count(opposite(side)) && !taken_[side][i]; ++j) {
          const TokenSequence& other = sequence(opposite(side), j);
          const auto longest = static_cast<int64_t>(one.ids.size());
          const int64_t first = anywhere ? other.first : one.first, last = anywhere ? other.end() - longest : one.first;
          for (int64_t position = first; position <= last && !take_part(side, i, j, position); ++position) {
            if (++compared <= kMostCompared) continue;
            result_.cut_short = true;
            return;
          }
        }
      }
    }
  }

  const Sides<const std::vector<TokenSequence>*> sequences_;
  Sides<std::vector<bool>> taken_;
  Sides<std::map<uint32_t, std::vector<std::pair<int64_t, int64_t>>>>
      parts_;  // of each sequence, the tokens that are taken
  TokenMatch result_;
};

}  // namespace

TokenMatch match_sequences(const std::vector<TokenSequence>& a, const std::vector<TokenSequence>& b) {
  return Matcher(a, b).run();
}

}  // namespace msdump
