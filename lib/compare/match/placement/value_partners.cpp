#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/containers.h"
#include "compare/limits.h"
#include "compare/match/placement/sharded_match.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

class ValuePartners {
 public:
  explicit ValuePartners(ShardedMatch& match) : match_(match), pairing_(match.result.pairing) {}

  Result<std::vector<SequencedOpId>> run() {
    match_.allow_all_factors();  // those that were kept for wrong partners prove nothing
    partners_.assign(pairing_.a.size(), kNoId);
    owner_.assign(pairing_.b.size(), kNoId);
    fits_.assign(pairing_.a.size(), false);
    std::map<OpKind, Choice> open;
    std::vector<SequencedOpId> open_a;
    const std::vector<double> agreements = match_.agreements();
    for (size_t i = 0; i < agreements.size(); ++i) {
      const OpPair& pair = pairing_.operators[i];
      if (pair.is_paired()) take(pair.a, pair.b);
      if (agreements[i] >= kUnclear) fits_[pair.a] = true;
      if (agreements[i] >= kFits) continue;
      if (pair.a != kNoId) open_a.push_back(pair.a);
      if (pair.b != kNoId) open[kind_of(pairing_.b[pair.b])].operators.push_back(pair.b);
    }
    certain_.assign(pairing_.b.size(), false);
    for (const SequencedOpId a : open_a) {
      MSDUMP_CHECK_OK(match_.context.cancel.check());
      const auto found = open.find(kind_of(pairing_.a[a]));
      if (found != open.end()) MSDUMP_CHECK_OK(find_partner(a, found->second));
    }
    part_crossing(open_a);
    pair_between();
    part_others();
    MSDUMP_CHECK_OK(part_strays());
    return std::move(partners_);
  }

 private:
  struct Choice {
    std::vector<SequencedOpId> operators;  // of b, of one kind
    size_t begin = 0;                      // begin of the search: partners mostly come in order
  };

  void take(SequencedOpId a, SequencedOpId b) {
    if (owner_[b] != kNoId) partners_[owner_[b]] = kNoId;
    if (partners_[a] != kNoId) owner_[partners_[a]] = kNoId;
    partners_[a] = b;
    owner_[b] = a;
  }

  // Takes a call whose tensors all fit; else, as after a fault, one whose weights do. A present partner with the weights
  // keeps its place before others with them.
  Status find_partner(SequencedOpId a, Choice& choice) {
    const SequencedOpId now = partners_[a];
    Match of_now = Match::kNone;
    if (now != kNoId) {
      MSDUMP_TRY(of_now, match_of(a, now));
    }
    std::optional<size_t> of_weights;
    const size_t count = choice.operators.size();
    for (size_t tried = 0; tried < std::min(count, kMostTried); ++tried) {
      const size_t place = (choice.begin + tried) % count;
      const SequencedOpId b = choice.operators[place];
      if (certain_[b] || b == now || !match_.may_try(trials_)) continue;
      MSDUMP_TRY(const Match match, match_of(a, b));
      if (match == Match::kAll) {
        certain_[b] = true;
        choice.begin = place + 1;
        take(a, b);
        return {};
      }
      if (match == Match::kWeights && !of_weights) of_weights = place;
    }
    if (count > kMostTried) match_.leave_out_calls();
    if (of_now != Match::kNone) {
      certain_[now] = true;
    } else if (of_weights && !fits_[a]) {
      certain_[choice.operators[*of_weights]] = true;
      choice.begin = *of_weights + 1;
      take(a, choice.operators[*of_weights]);
    }
    return {};
  }

  // Separates pairs that cross. A call lies between the partners of the known calls around it. A partner elsewhere that
  // shares no value was found by its name, which another layer or stage has, too.
  void part_crossing(const std::vector<SequencedOpId>& open) {
    const std::vector<SequencedOpId> before = nearest_known(false), after = nearest_known(true);
    for (const SequencedOpId a : open) {
      if (partners_[a] == kNoId || is_known(a) || before[a] == kNoId || after[a] == kNoId) continue;
      const bool crosses = before[a] < after[a] && (partners_[a] < before[a] || partners_[a] > after[a]);
      if (crosses && agreement_of(a) == Agreement::kNone) partners_[a] = kNoId;
    }
  }

  [[nodiscard]] bool is_known(SequencedOpId a) const {
    return partners_[a] != kNoId && (fits_[a] || certain_[partners_[a]]);
  }

  // The partner of the nearest known call before or after each operator of a, within its step and pass. Known calls are
  // those that values or weights confirm.
  [[nodiscard]] std::vector<SequencedOpId> nearest_known(bool after) const {
    const auto count = static_cast<uint32_t>(partners_.size());
    std::vector<SequencedOpId> nearest(count);
    std::pair<CompactOptional<int64_t>, bool> pass;
    SequencedOpId last;
    for (uint32_t i = 0; i < count; ++i) {
      const SequencedOpId a(after ? count - 1 - i : i);
      const SequencedOp& op = pairing_.a[a];
      const std::pair here(op.step, forward_entry_of(op.name).has_value());
      if (i == 0 || here != pass) last = kNoId;
      pass = here;
      nearest[a] = last;
      if (is_known(a)) last = partners_[a];
    }
    return nearest;
  }

  // Separates two calls if no placement gives their tensors one global shape. Also two calls of different types that share
  // no value, if another call nearby has one of the values.
  void part_others() {
    for (SequencedOpId a{0}; a < partners_.size(); ++a) {
      if (partners_[a] == kNoId) continue;
      const bool same_type = pairing_.a[a].type == pairing_.b[partners_[a]].type;
      if (!shapes_fit(a) || (!same_type && agreement_of(a) == Agreement::kNone && is_elsewhere(a)))
        partners_[a] = kNoId;
    }
  }

  // True if a call near the partner has one of its values.
  [[nodiscard]] bool is_elsewhere(SequencedOpId a) {
    constexpr uint32_t kNear = kMostTried / 2;
    const SequencedOpId b = partners_[a];
    const uint32_t first = b < kNear ? 0 : b - kNear;
    const uint32_t end = std::min(static_cast<uint32_t>(pairing_.b.size()), b + kNear);
    for (const RecordId x : pairing_.a[a].tensors) {
      for (uint32_t near = first; near < end; ++near) {
        for (const RecordId y : pairing_.b[near].tensors) {
          const bool same_io = match_.record(Side::kCandidate, x).name.io == match_.record(Side::kReference, y).name.io;
          if (!same_io || !match_.may_be_one(x, y) || !match_.may_try(trials_)) continue;
          if (const Fit& fit = fit_of(x, y); fit.agrees && fit.is_informative) return true;
        }
      }
    }
    return false;
  }

  // True if no rank has an element of the tensor.
  [[nodiscard]] bool is_empty(Side side, RecordId tensor) const {
    const std::vector<const TensorRecord*>& records = match_.result[side]->members(tensor).records;
    return std::all_of(records.begin(), records.end(), [](const TensorRecord* record) {
      return record != nullptr && record->shape != nullptr && element_count(*record->shape) == 0;
    });
  }

  [[nodiscard]] bool shapes_fit(SequencedOpId a) {
    const auto common = in_common(a, partners_[a]);
    return std::all_of(common.begin(), common.end(), [&](const auto& both) {
      const auto& [x, y] = both;
      if (is_empty(Side::kCandidate, x) != is_empty(Side::kReference, y)) return false;
      return fit_of(x, y).possible || !ok(match_.locals_of(Side::kCandidate, x)) ||
             !ok(match_.locals_of(Side::kReference, y));
    });
  }

  // Separates two calls that share no value although the calls after them agree: a fault would have spread.
  Status part_strays() {
    size_t fitting = 0;  // calls that agree, one after the other
    std::optional<int64_t> step;
    for (SequencedOpId a(partners_.size()); a-- > 0;) {
      MSDUMP_CHECK_OK(match_.context.cancel.check());
      const SequencedOp& op = pairing_.a[a];
      if (op.step != step) {
        step = op.step;
        fitting = 0;
      }
      if (partners_[a] == kNoId) continue;
      const Agreement agreement = agreement_of(a);
      if (agreement == Agreement::kNone && fitting >= kFewTried) {
        partners_[a] = kNoId;
      } else {
        fitting = agreement == Agreement::kAll ? fitting + 1 : 0;
      }
    }
    return {};
  }

  enum class Agreement : uint8_t { kNone, kSome, kAll };

  // The agreement of the tensors of two partners. Zeros and other constants are no shared value.
  [[nodiscard]] Agreement agreement_of(SequencedOpId a) {
    if (fits_[a]) return Agreement::kAll;
    bool all = true, any = false;
    for (const auto& [x, y] : in_common(a, partners_[a])) {
      const Fit& fit = fit_of(x, y);
      all = all && fit.agrees;
      any = any || (fit.agrees && fit.is_informative);
    }
    return all ? Agreement::kAll : any ? Agreement::kSome : Agreement::kNone;
  }

  // Pairs the rest by kind, in order, between the same partners.
  void pair_between() {
    std::vector<bool> taken(pairing_.b.size(), false);
    for (const SequencedOpId b : partners_) {
      if (b != kNoId) taken[b] = true;
    }
    std::vector<SequencedOpId> next(partners_.size() + 1, SequencedOpId(pairing_.b.size()));
    for (size_t a = partners_.size(); a-- > 0;) next[a] = partners_[a] == kNoId ? next[a + 1] : partners_[a];
    uint32_t before = 0;
    for (SequencedOpId a{0}; a < partners_.size(); ++a) {
      if (partners_[a] != kNoId) {
        before = partners_[a] + 1;
        continue;
      }
      const auto end = static_cast<uint32_t>(std::min<uint64_t>(next[a + 1], before + uint64_t{kMostTried}));
      for (SequencedOpId b(before); b < end; ++b) {
        if (taken[b] || kind_of(pairing_.a[a]) != kind_of(pairing_.b[b])) continue;
        partners_[a] = b;
        taken[b] = true;
        before = b + 1;
        break;
      }
    }
  }

  enum class Match : uint8_t { kNone, kWeights, kAll };

  // kAll if all tensors in common slots agree, among them an output and an informative one. kWeights if only the weights do.
  Result<Match> match_of(SequencedOpId a, SequencedOpId b) {
    size_t outputs = 0, weights = 0;
    bool tells = false;
    const auto common = in_common(a, b);
    for (const bool of_weights : {true, false}) {
      for (const auto& [x, y] : common) {
        MSDUMP_TRY(const bool weight, is_weight(a, x));
        if (weight != of_weights) continue;
        const Fit& fit = fit_of(x, y);
        if (!fit.agrees) return weight || weights == 0 ? Match::kNone : Match::kWeights;
        tells = tells || fit.is_informative;
        if (weight && fit.is_informative) ++weights;
        if (match_.record(Side::kCandidate, x).name.io == Io::kOutput) ++outputs;
      }
    }
    if (tells && outputs > 0) return Match::kAll;
    return weights > 0 ? Match::kWeights : Match::kNone;
  }

  // True for an input after the first that no earlier call of its step wrote. An undumped call may have written the first.
  Result<bool> is_weight(SequencedOpId op, RecordId tensor) {
    const TensorRecord& record = match_.record(Side::kCandidate, tensor);
    if (record.name.io != Io::kInput || record.name.slot == "0" || record.shape == nullptr) return false;
    const auto [known, is_new] = weights_.try_emplace(tensor, false);
    if (!is_new) return known->second;
    MSDUMP_TRY(const uint64_t contents, match_.contents_of(Side::kCandidate, tensor));
    if (contents == 0) return false;
    MSDUMP_TRY(const Written* const written, written_in(match_.step_of(Side::kCandidate, tensor), *record.shape));
    const auto writer = written->find(contents);
    return known->second = writer == written->end() || writer->second >= op;
  }

  using Written = std::map<uint64_t, SequencedOpId>;  // by contents: the first call of the step with such an output

  // The outputs of one step and shape.
  Result<const Written*> written_in(std::optional<int64_t> step, const Shape& shape) {
    const auto [known, is_new] = written_.try_emplace({step, shape});
    const std::vector<SequencedOp>& operators = pairing_.a;
    for (SequencedOpId op{0}; is_new && op < operators.size(); ++op) {
      for (const RecordId tensor : operators[op].tensors) {
        const TensorRecord& record = match_.record(Side::kCandidate, tensor);
        if (record.name.io != Io::kOutput || record.shape == nullptr || *record.shape != shape) continue;
        if (match_.step_of(Side::kCandidate, tensor) != step) continue;
        MSDUMP_TRY(const uint64_t contents, match_.contents_of(Side::kCandidate, tensor));
        if (contents != 0) known->second.try_emplace(contents, op);
      }
    }
    return &known->second;
  }

  // The pairs of tensors of two operators in the same slot.
  [[nodiscard]] std::vector<std::pair<RecordId, RecordId>> in_common(SequencedOpId a, SequencedOpId b) const {
    const auto slot_of = [&](Side side, RecordId tensor) {
      const TensorRecord& record = match_.record(side, tensor);
      return std::tuple(record.name.io, record.name.slot, record.occurrence, match_.step_of(side, tensor));
    };
    std::vector<std::pair<RecordId, RecordId>> common;
    for (const RecordId x : pairing_.a[a].tensors) {
      for (const RecordId y : pairing_.b[b].tensors) {
        if (slot_of(Side::kCandidate, x) == slot_of(Side::kReference, y)) common.emplace_back(x, y);
      }
    }
    return common;
  }

  struct Fit {
    bool possible = false;  // some placement fits the shapes
    bool agrees = false, is_informative = false;
  };
  // The fit of two tensors, which is kept: several steps ask for the same ones.
  const Fit& fit_of(RecordId x, RecordId y) {
    const auto [known, is_new] = known_.try_emplace({x, y});
    if (!is_new) return known->second;
    if (const auto fit = match_.fit_of({x, y}, PlacementQuery::Effort::kQuick))
      known->second = {true, fit->agreement >= kFits, fit->is_informative};
    return known->second;
  }

  ShardedMatch& match_;
  const Pairing& pairing_;
  std::vector<SequencedOpId> partners_, owner_;         // by operator of a, of b
  std::vector<bool> fits_;                              // by operator of a: its first partner fits
  std::vector<bool> certain_;                           // by operator of b
  std::map<std::pair<RecordId, RecordId>, Fit> known_;  // by tensors of a and b
  std::map<RecordId, bool> weights_;                    // by tensor of a
  std::map<std::pair<std::optional<int64_t>, Shape>, Written> written_;
  size_t trials_ = 0;
};

}  // namespace

Result<std::vector<SequencedOpId>> partners_by_values(ShardedMatch& match) { return ValuePartners(match).run(); }

namespace {

class ValueTwins {
 public:
  explicit ValueTwins(ShardedMatch& match)
      : match_(match), pairing_(match.result.pairing), taken_(pairing_.tensors.size(), false) {
    of_operator_ = EdgeLists<TensorId>(pairing_.operators.size(), [&](const auto& visit) {
      for (TensorId i{0}; i < taken_.size(); ++i) visit(pairing_.tensors[i].op, i);
    });
  }

  Status run() {
    std::vector<OperatorId> own, others;
    for (OperatorId op{0}; op < pairing_.operators.size(); ++op) {
      const OpPair& pair = pairing_.operators[op];
      if (is_communication(pairing_.op_type(op))) continue;  // paired in sharded_pairing.cpp
      if (pair.a == kNoId) {
        others.push_back(op);
      } else if (pair.b == kNoId) {
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
  Status pair_between(const std::vector<OperatorId>& own, const std::vector<OperatorId>& others) {
    if (own.empty() || others.empty()) return {};
    const TensorId loss = last_number(Side::kCandidate, own), loss_there = last_number(Side::kReference, others);
    size_t begin = 0;  // values that are computed earlier have earlier partners
    for (const OperatorId op : own) {
      MSDUMP_CHECK_OK(match_.context.cancel.check());
      const size_t end = std::min(others.size(), begin + kMostTried);
      std::vector<ShardedMatch::Twin> twins;
      for (const TensorId i : of_operator_.of(op)) {
        std::optional<ShardedMatch::Twin> twin;
        for (size_t place = begin; place < end && !twin; ++place) {
          twin = twin_in(i, others[place]);
          const bool is_output = match_.record(Side::kCandidate, pairing_.tensors[i].a).name.io == Io::kOutput;
          if (twin && is_output) begin = place;
        }
        if (!twin && i == loss && loss_there != kNoId) twin = twin_of(i, loss_there, false);
        if (twin) twins.push_back(*std::move(twin));
      }
      if (twins.empty() && end < others.size()) match_.leave_out_calls();
      if (!twins.empty()) match_.add_partner(Side::kCandidate, op, twins);
    }
    return {};
  }

  // The last single number that a forward call writes, the loss. kNoId if there is none.
  [[nodiscard]] TensorId last_number(Side side, const std::vector<OperatorId>& operators) const {
    for (auto op = operators.rbegin(); op != operators.rend(); ++op) {
      if (forward_entry_of(pairing_.op_name(*op)) || of_operator_.of(*op).empty()) continue;
      const TensorId pair = of_operator_.of(*op).back();
      const TensorRecord& record = match_.record(side, pairing_.tensors[pair][side]);
      if (record.name.io == Io::kOutput && record.shape != nullptr && element_count(*record.shape) == 1) return pair;
    }
    return {};
  }

  std::optional<ShardedMatch::Twin> twin_in(TensorId i, OperatorId other) {
    for (const TensorId j : of_operator_.of(other)) {
      if (auto twin = twin_of(i, j, true)) return twin;
    }
    return std::nullopt;
  }

  // Marks the tensor of the reference as taken. With `by_values`, only if it has the values.
  std::optional<ShardedMatch::Twin> twin_of(TensorId i, TensorId j, bool by_values) {
    const RecordId a = pairing_.tensors[i].a, b = pairing_.tensors[j].b;
    const bool same_io = match_.record(Side::kCandidate, a).name.io == match_.record(Side::kReference, b).name.io;
    if (taken_[j] || !same_io || !match_.may_be_one(a, b) || !match_.may_try(trials_)) return std::nullopt;
    std::optional<PlacementFit> fit = match_.fit_of({a, b}, PlacementQuery::Effort::kQuick);
    if (!fit) return std::nullopt;
    const bool fits = fit->is_informative ? fit->agreement >= kFits : is_one_number(b, *fit);
    if (by_values && !fits) return std::nullopt;
    taken_[j] = true;
    pairing_.tensors[j].alone = Alone::kElsewhere;
    return ShardedMatch::Twin{i, b, *std::move(fit)};
  }

  // True if both are the same number, or one is the mean over ranks. Many tensors are 0 or 1, so these do not count.
  [[nodiscard]] bool is_one_number(RecordId b, const PlacementFit& fit) const {
    LocalTensors other = match_.locals_of(Side::kReference, b);
    if (!ok(other) || fit.a.has(PlacementRole::kSum) || fit.b.has(PlacementRole::kSum)) return false;
    if (element_count(shapes_of(other).front()) != 1) return false;
    LocalValues* const values = std::get_if<LocalValues>(&other);
    const double magnitude = std::abs(
        values != nullptr ? values->at(0, 0) : std::get<LocalStatistics>(other).values().front().value(Extremum::kMax));
    return magnitude != 0 && magnitude != 1 && std::isfinite(magnitude) && fit.error <= kSameNumber;
  }

  ShardedMatch& match_;
  Pairing& pairing_;
  std::vector<bool> taken_;          // by tensor pair: the reference's tensor is paired with another call's
  EdgeLists<TensorId> of_operator_;  // the tensor pairs of each operator of the pairing
  size_t trials_ = 0;
};

}  // namespace

Status pair_value_twins(ShardedMatch& match) { return ValueTwins(match).run(); }

}  // namespace msdump
