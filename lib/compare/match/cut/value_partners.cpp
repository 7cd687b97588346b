#include "compare/match/cut/value_partners.h"

#include <algorithm>
#include <map>

namespace msdump {
namespace {

constexpr size_t kMostTrials = 4000;  // of a run: where nothing fits, nothing will

class ValuePartners {
 public:
  explicit ValuePartners(CutMatch& match) : match_(match) {}

  Result<std::vector<uint32_t>> run() {
    match_.allow_all_factors();  // those of wrong partners say nothing
    const Pairing& pairing = match_.result.pairing;
    std::vector<uint32_t> partners(pairing.a.size(), kNoOperator);
    std::vector<bool> taken(pairing.b.size(), false);
    using Kind = std::tuple<std::string_view, std::optional<int64_t>, bool>;  // type, step, backward
    std::map<Kind, std::vector<uint32_t>> open_b;
    std::vector<uint32_t> open_a;
    const std::vector<bool> fit = match_.operators_that_fit();
    for (size_t i = 0; i < fit.size(); ++i) {
      const OpPair& pair = pairing.operators[i];
      if (pair.a != kNoOperator) partners[pair.a] = pair.b;
      if (fit[i]) continue;
      if (pair.a != kNoOperator) open_a.push_back(pair.a);
      if (pair.b != kNoOperator) open_b[kind_of(pairing.b[pair.b])].push_back(pair.b);
    }
    std::vector<uint32_t> owner(pairing.b.size(), kNoOperator);
    for (uint32_t a = 0; a < partners.size(); ++a) {
      if (partners[a] != kNoOperator) owner[partners[a]] = a;
    }
    size_t trials = 0;
    std::map<Kind, size_t> next;  // where the search begins: partners mostly come in order
    for (const uint32_t a : open_a) {
      MSDUMP_CHECK_OK(match_.context.cancel.check());
      const auto found = open_b.find(kind_of(pairing.a[a]));
      if (found == open_b.end()) continue;
      const std::vector<uint32_t>& choice = found->second;
      size_t& begin = next[found->first];
      for (size_t tried = 0; tried < std::min(choice.size(), CutMatch::kMostTried); ++tried) {
        const size_t place = (begin + tried) % choice.size();
        const uint32_t b = choice[place];
        if (taken[b] || ++trials > kMostTrials || !all_fit(pairing.a[a], pairing.b[b])) continue;
        if (owner[b] != kNoOperator && owner[b] != a) partners[owner[b]] = kNoOperator;
        if (partners[a] != kNoOperator && owner[partners[a]] == a) owner[partners[a]] = kNoOperator;
        partners[a] = b;
        owner[b] = a;
        taken[b] = true;
        begin = place + 1;
        break;
      }
    }
    pair_between(partners);
    part_others(partners);
    return partners;
  }

 private:
  // Two calls whose tensors no layout makes wholes of one shape are not the same, whatever their places are.
  void part_others(std::vector<uint32_t>& partners) const {
    const Pairing& pairing = match_.result.pairing;
    const auto slot_of = [](const TensorRecord& record) {
      return std::tuple(record.name.io, record.name.slot, record.occurrence);
    };
    for (uint32_t a = 0; a < partners.size(); ++a) {
      if (partners[a] == kNoOperator) continue;
      for (const uint32_t x : pairing.a[a].tensors) {
        for (const uint32_t y : pairing.b[partners[a]].tensors) {
          const TensorRecord &one = match_.result.a->tensors()[x], &other = match_.result.b->tensors()[y];
          if (slot_of(one) != slot_of(other) || step_of(*match_.index_a, one) != step_of(*match_.index_b, other))
            continue;
          const CutPieces values_a = match_.pieces_of(true, x), values_b = match_.pieces_of(false, y);
          if (!ok(values_a) || !ok(values_b) || match_.fit_of({0, x, y}, CutQuestion::Effort::kQuick)) continue;
          partners[a] = kNoOperator;
          break;
        }
        if (partners[a] == kNoOperator) break;
      }
    }
  }

  // What is left: the same kind between the same partners.
  void pair_between(std::vector<uint32_t>& partners) const {
    const Pairing& pairing = match_.result.pairing;
    std::vector<bool> taken(pairing.b.size(), false);
    for (const uint32_t b : partners) {
      if (b != kNoOperator) taken[b] = true;
    }
    std::vector<uint32_t> next(partners.size() + 1, static_cast<uint32_t>(pairing.b.size()));
    for (size_t a = partners.size(); a-- > 0;) next[a] = partners[a] == kNoOperator ? next[a + 1] : partners[a];
    uint32_t before = 0;
    for (uint32_t a = 0; a < partners.size(); ++a) {
      if (partners[a] != kNoOperator) {
        before = partners[a] + 1;
        continue;
      }
      const auto end = static_cast<uint32_t>(std::min<uint64_t>(next[a + 1], before + uint64_t{CutMatch::kMostTried}));
      for (uint32_t b = before; b < end; ++b) {
        if (taken[b] || kind_of(pairing.a[a]) != kind_of(pairing.b[b])) continue;
        partners[a] = b;
        taken[b] = true;
        before = b + 1;
        break;
      }
    }
  }

  // Do all tensors of the two that have a slot in common hold the same values, one of them values that tell?
  [[nodiscard]] bool all_fit(const SequencedOp& a, const SequencedOp& b) const {
    bool tells = false;
    size_t outputs = 0;
    for (const uint32_t x : a.tensors) {
      const TensorRecord& one = match_.result.a->tensors()[x];
      for (const uint32_t y : b.tensors) {
        const TensorRecord& other = match_.result.b->tensors()[y];
        const bool same = one.name.io == other.name.io && one.name.slot == other.name.slot &&
                          one.occurrence == other.occurrence &&
                          step_of(*match_.index_a, one) == step_of(*match_.index_b, other);
        if (!same) continue;
        const std::optional<CutFit> fit = match_.fit_of({0, x, y}, CutQuestion::Effort::kQuick);
        if (!fit || fit->agreement < CutMatch::kLike) return false;
        tells = tells || fit->tells;
        if (one.name.io == Io::kOutput) ++outputs;
      }
    }
    return tells && outputs > 0;
  }

  CutMatch& match_;
};

}  // namespace

Result<std::vector<uint32_t>> partners_by_values(CutMatch& match) { return ValuePartners(match).run(); }

}  // namespace msdump
