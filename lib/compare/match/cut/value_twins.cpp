#include "compare/match/cut/value_twins.h"

#include <algorithm>
#include <cmath>

#include "compare/match/cut/layout/element_samples.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

// A single number tells if it is not one that many have.
double single_number(CutPieces& pieces) {
  if (element_count(shapes_of(pieces).front()) != 1) return 0;
  if (PieceValues* const values = std::get_if<PieceValues>(&pieces)) return values->at(0, 0);
  const auto& max = std::get<PieceStatistics>(pieces).values().front().number(Extremum::kMax);
  return max ? max->value : 0;
}

class ValueTwins {
 public:
  explicit ValueTwins(CutMatch& match) : match_(match), taken_(match.result.pairing.tensors.size(), false) {
    const std::vector<TensorPair>& tensors = match.result.pairing.tensors;
    begins_.assign(match.result.pairing.operators.size() + 1, 0);
    for (const TensorPair& pair : tensors) ++begins_[pair.op + 1];
    for (size_t op = 1; op < begins_.size(); ++op) begins_[op] += begins_[op - 1];
  }

  Status run() {
    std::vector<uint32_t> own, others;
    const auto count = static_cast<uint32_t>(match_.result.pairing.operators.size());
    for (uint32_t op = 0; op < count; ++op) {
      const OpPair& pair = match_.result.pairing.operators[op];
      if (is_communication(match_.result.pairing.op_type(op))) continue;  // collective_partners.h
      if (pair.a == kNoOperator) {
        others.push_back(op);
      } else if (pair.b == kNoOperator) {
        own.push_back(op);
      } else {
        MSDUMP_CHECK_OK(pair_between(own, others));
        own.clear();
        others.clear();
      }
    }
    return pair_between(own, others);
  }

 private:
  Status pair_between(const std::vector<uint32_t>& own, const std::vector<uint32_t>& others) {
    if (own.empty() || others.empty()) return {};
    const auto [loss, loss_there] = losses_of(own, others);
    size_t begin = 0;  // what is computed earlier has its partners earlier
    for (const uint32_t op : own) {
      MSDUMP_CHECK_OK(match_.context.cancel.check());
      const size_t end = std::min(others.size(), begin + CutMatch::kMostTried);
      std::vector<CutMatch::Twin> twins;
      for (uint32_t i = begins_[op]; i < begins_[op + 1]; ++i) {
        for (size_t place = begin; place < end; ++place) {
          auto twin = twin_in(i, others[place]);
          if (!twin) continue;
          if (output(i)) begin = place;
          twins.push_back(*std::move(twin));
          break;
        }
        const bool is_loss = i == loss && (twins.empty() || twins.back().pair != i) && !taken_[loss_there];
        if (!is_loss) continue;
        if (auto twin = twin_of(i, loss_there, false)) twins.push_back(*std::move(twin));
      }
      if (twins.empty() && end < others.size()) match_.leave_out_calls();
      if (!twins.empty()) match_.add_partner(match_.cut_of(true), op, twins);
    }
    return {};
  }

  // The last single number that a forward call of each side leaves: the loss. None: kNoTensor.
  [[nodiscard]] std::pair<uint32_t, uint32_t> losses_of(const std::vector<uint32_t>& own,
                                                        const std::vector<uint32_t>& others) const {
    const Pairing& pairing = match_.result.pairing;
    const auto last_number = [&](const std::vector<uint32_t>& operators, bool of_a) {
      for (auto op = operators.rbegin(); op != operators.rend(); ++op) {
        if (forward_entry_of(pairing.op_name(*op)) || begins_[*op] == begins_[*op + 1]) continue;
        const uint32_t pair = begins_[*op + 1] - 1;
        const TensorRecord& record = of_a ? match_.result.a->tensors()[pairing.tensors[pair].a]
                                          : match_.result.b->tensors()[pairing.tensors[pair].b];
        if (record.name.io == Io::kOutput && record.shape != nullptr && element_count(*record.shape) == 1) return pair;
      }
      return kNoTensor;
    };
    const uint32_t here = last_number(own, true), there = last_number(others, false);
    return here == kNoTensor || there == kNoTensor ? std::pair(kNoTensor, kNoTensor) : std::pair(here, there);
  }

  [[nodiscard]] bool output(uint32_t i) const {
    return match_.result.a->tensors()[match_.result.pairing.tensors[i].a].name.io == Io::kOutput;
  }

  std::optional<CutMatch::Twin> twin_in(uint32_t i, uint32_t other) {
    for (uint32_t j = begins_[other]; j < begins_[other + 1]; ++j) {
      if (auto twin = twin_of(i, j, true)) return twin;
    }
    return std::nullopt;
  }

  // Marks the tensor of the reference as taken. `by_values`: only if it has the values.
  std::optional<CutMatch::Twin> twin_of(uint32_t i, uint32_t j, bool by_values) {
    std::vector<TensorPair>& tensors = match_.result.pairing.tensors;
    const uint32_t a = tensors[i].a, b = tensors[j].b;
    const TensorRecord &one = match_.result.a->tensors()[a], &there = match_.result.b->tensors()[b];
    const bool may_be = !taken_[j] && one.name.io == there.name.io && match_.may_be_one(a, b) &&
                        step_of(*match_.index_a, one) == step_of(*match_.index_b, there);
    if (!may_be || !match_.may_try(trials_)) return std::nullopt;
    std::optional<CutFit> fit = match_.fit_of({0, a, b}, CutQuestion::Effort::kQuick);
    if (!fit) return std::nullopt;
    const bool fits = fit->tells ? fit->agreement >= CutMatch::kLike : is_one_number(b, *fit);
    if (by_values && !fits) return std::nullopt;
    taken_[j] = true;
    tensors[j].alone = Alone::kElsewhere;
    return CutMatch::Twin{i, b, *std::move(fit)};
  }

  // Also the mean of those of the ranks, as of their losses.
  [[nodiscard]] bool is_one_number(uint32_t b, const CutFit& fit) const {
    CutPieces other = match_.pieces_of(false, b);
    if (!ok(other) || fit.a.has(CutRole::kSum) || fit.b.has(CutRole::kSum)) return false;
    const double magnitude = std::abs(single_number(other));
    return magnitude != 0 && magnitude != 1 && std::isfinite(magnitude) && fit.error <= ElementSamples::kSameNumber;
  }

  CutMatch& match_;
  std::vector<bool> taken_;       // by tensor pair: the reference's tensor has a twin
  std::vector<uint32_t> begins_;  // by operator of the pairing: its first tensor pair; and the end
  size_t trials_ = 0;
};

}  // namespace

Status pair_value_twins(CutMatch& match) { return ValueTwins(match).run(); }

}  // namespace msdump
