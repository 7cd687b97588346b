#include "compare/match/cut/collective_partners.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/match/cut/layout/layout_choices.h"
#include "graph/flow/communication.h"

namespace msdump {
namespace {

constexpr uint32_t kMostNear = 4096;  // tensors of the pairing, to either side of a collective

std::vector<double> factors_of(const CutLayout& layout) {
  return layout.factor == 1 ? std::vector<double>() : std::vector<double>{layout.factor};
}

class CollectivePartners {
 public:
  explicit CollectivePartners(CutMatch& match) : match_(match) {}

  Status run() {
    for (const bool of_a : {true, false}) MSDUMP_CHECK_OK(pair_collectives(match_.cut_of(of_a)));
    return {};
  }

 private:
  // What a collective reads is what another call wrote: it has the partner of that.
  Status pair_collectives(const CutMatch::OneSide& cut) {
    Pairing& pairing = match_.result.pairing;
    std::map<uint32_t, std::vector<uint32_t>> collectives;  // by operator of the pairing: its pairs
    std::set<Shape> shapes;
    for (uint32_t i = 0; i < pairing.tensors.size(); ++i) {
      TensorPair& pair = pairing.tensors[i];
      if (paired(pair) || cut.own_of(pair) == kNoTensor || !is_communication(pairing.op_type(pair.op))) continue;
      collectives[pair.op].push_back(i);
      pair.alone = Alone::kCommunication;
      const Shape* const shape = cut.own->tensors()[cut.own_of(pair)].shape;
      if (shape != nullptr) shapes.insert(*shape);
    }
    if (collectives.empty()) return {};
    MSDUMP_TRY(const auto sources, sources_by_contents(cut, shapes));
    const Groups groups = groups_of(cut.of_a ? match_.whole_a : match_.whole_b);
    for (const auto& [op, pairs] : collectives) {
      if (!is_within(cut, op, pairs, groups)) continue;
      MSDUMP_TRY(const std::optional<uint32_t> source, source_of(cut, op, pairs, sources));
      if (source) {
        add_partner(cut, op, pairs, cut.other_of(pairing.tensors[*source]), *match_.fits[*source]);
      } else {
        find_partner(cut, op, pairs);
      }
    }
    return {};
  }

  // By call, rank and step: the ranks of its group.
  using Groups = std::map<std::tuple<std::string_view, int64_t, std::optional<int64_t>>, std::set<int64_t>>;

  static Groups groups_of(const CompareSide& side) {
    Groups groups;
    if (side.arguments == nullptr) return groups;
    for (const CallArgument& argument : *side.arguments) {
      if (argument.value.kind != CallValue::Kind::kGroup) continue;
      const FolderIdentity& folder = side.index->folders()[side.index->files()[argument.table].folder].identity;
      std::set<int64_t>& ranks = groups[{argument.op_name, folder.rank.value_or(-1), folder.step}];
      const std::string group = group_of_ranks(argument.value.text, folder.rank);
      for (const std::string_view rank : split(group, ' ')) {
        if (const auto number = parse_i64(rank)) ranks.insert(*number);
      }
    }
    return groups;
  }

  // A collective whose group has ranks that run another program, as the stages that share a weight, carries more than the
  // pieces of one whole; one end of a connection less.
  [[nodiscard]] bool is_within(const CutMatch::OneSide& cut, uint32_t op, const std::vector<uint32_t>& pairs,
                               const Groups& groups) const {
    const SequencedOp& own =
        (cut.of_a ? match_.result.pairing.a : match_.result.pairing.b)[cut.own_of(match_.result.pairing.operators[op])];
    const uint32_t tensor = cut.own_of(match_.result.pairing.tensors[pairs.front()]);
    const std::vector<int64_t>& ranks = cut.own->ranks(tensor);
    if (ranks.size() < 2 || sends(own)) return false;
    const auto step = step_of(*cut.own_index, cut.own->tensors()[tensor]);
    return std::all_of(ranks.begin(), ranks.end(), [&](int64_t rank) {
      const auto group = groups.find({own.name, rank, step});
      return group == groups.end() || std::all_of(group->second.begin(), group->second.end(), [&](int64_t other) {
               return std::binary_search(ranks.begin(), ranks.end(), other);
             });
    });
  }

  using Sources = std::map<uint64_t, std::vector<std::pair<uint32_t, uint32_t>>>;  // by contents: operator and pair

  // The tensors of these shapes that have a partner and fit it.
  Result<Sources> sources_by_contents(const CutMatch::OneSide& cut, const std::set<Shape>& shapes) const {
    Sources sources;
    for (uint32_t i = 0; i < match_.result.pairing.tensors.size(); ++i) {
      const TensorPair& pair = match_.result.pairing.tensors[i];
      if (!paired(pair) || !match_.fits[i]) continue;
      const Shape* const shape = cut.own->tensors()[cut.own_of(pair)].shape;
      if (shape == nullptr || !shapes.contains(*shape)) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(cut, cut.own_of(pair)));
      sources[contents].emplace_back(pair.op, i);
    }
    return sources;
  }

  // The last tensor before the collective that its first input is.
  Result<std::optional<uint32_t>> source_of(const CutMatch::OneSide& cut, uint32_t op,
                                            const std::vector<uint32_t>& pairs, const Sources& sources) const {
    for (const uint32_t i : pairs) {
      const uint32_t tensor = cut.own_of(match_.result.pairing.tensors[i]);
      if (cut.own->tensors()[tensor].name.io != Io::kInput) continue;
      MSDUMP_TRY(const uint64_t contents, match_.contents_of(cut, tensor));
      const auto found = sources.find(contents);
      if (contents == 0 || found == sources.end()) continue;
      std::optional<uint32_t> last;
      for (const auto& [of, source] : found->second) {
        if (of < op) last = source;
      }
      if (last) return last;
    }
    return std::nullopt;
  }

  // Nothing that has a partner wrote what it reads: any tensor of the other side that it may be, the nearest first.
  void find_partner(const CutMatch::OneSide& cut, uint32_t op, const std::vector<uint32_t>& pairs) {
    const Pairing& pairing = match_.result.pairing;
    const auto reads = [&](uint32_t i) {
      return cut.own->tensors()[cut.own_of(pairing.tensors[i])].name.io == Io::kInput;
    };
    const auto input = std::find_if(pairs.begin(), pairs.end(), reads);
    if (input == pairs.end()) return;
    const uint32_t tensor = cut.own_of(pairing.tensors[*input]);
    const TensorRecord& record = cut.own->tensors()[tensor];
    CutPieces own = match_.pieces_of(cut.of_a, tensor);
    if (!ok(own) || record.shape == nullptr) return;
    const auto of_step = step_of(*cut.own_index, record);
    std::vector<uint32_t> near;  // pairs, by their distance
    const auto count = static_cast<uint32_t>(pairing.tensors.size());
    const uint32_t first = *input > kMostNear ? *input - kMostNear : 0, end = std::min(count, *input + kMostNear);
    for (uint32_t i = first; i < end; ++i) {
      const uint32_t other = cut.other_of(pairing.tensors[i]);
      if (other == kNoTensor) continue;
      const bool may_be = cut.of_a ? match_.may_be_one(tensor, other) : match_.may_be_one(other, tensor);
      if (may_be && step_of(*cut.other_index, cut.other->tensors()[other]) == of_step) near.push_back(i);
    }
    const auto distance = [&](uint32_t i) {
      const uint32_t at = pairing.tensors[i].op;
      return at > op ? at - op : op - at;
    };
    std::stable_sort(near.begin(), near.end(), [&](uint32_t x, uint32_t y) { return distance(x) < distance(y); });
    const bool has_more = near.size() > CutMatch::kMostTried, is_far = first > 0 || end < count;
    if (has_more) near.resize(CutMatch::kMostTried);
    for (const uint32_t i : near) {
      const uint32_t value = cut.other_of(pairing.tensors[i]);
      CutPieces other = match_.pieces_of(!cut.of_a, value);
      const auto fit_by = [&](CutQuestion::Effort effort) {
        const CutQuestion question{"", match_.factors_a, match_.factors_b, effort, {}, {}};
        return cut.of_a ? find_layout(own, other, question, match_.prior)
                        : find_layout(other, own, question, match_.prior);
      };
      const std::optional<CutFit> fit = fit_by(CutQuestion::Effort::kQuick);
      // Few elements of a tensor that is almost all zeros are near those of many others.
      if (is_like(fit) && is_like(fit_by(CutQuestion::Effort::kUsual))) return add_partner(cut, op, pairs, value, *fit);
    }
    if (has_more) match_.leave_out_calls();
    if (is_far) {
      match_.limits.insert({"collective_neighbours", kMostNear,
                            "the value that a collective reads was looked for among the tensors near it alone"});
    }
  }

  // Nearer than zeros are.
  [[nodiscard]] static bool is_like(const std::optional<CutFit>& fit) {
    return fit && fit->agreement >= CutMatch::kLike && fit->tells && fit->error < 1;
  }

  void add_partner(const CutMatch::OneSide& cut, uint32_t op, const std::vector<uint32_t>& pairs, uint32_t value,
                   const CutFit& of_input) {
    std::vector<CutMatch::Twin> twins;
    for (const uint32_t i : pairs) {
      const uint32_t tensor = cut.own_of(match_.result.pairing.tensors[i]);
      const bool input = cut.own->tensors()[tensor].name.io == Io::kInput;
      std::optional<CutFit> fit = input ? of_input : collective_fit(cut, tensor, value, of_input);
      if (!fit) return;
      twins.push_back({i, value, *std::move(fit)});
    }
    match_.add_partner(cut, op, twins);
  }

  // What a collective leaves: the same whole. Where its values are not those, what is meant: all have the sum or the largest.
  [[nodiscard]] std::optional<CutFit> collective_fit(const CutMatch::OneSide& cut, uint32_t tensor, uint32_t value,
                                                     const CutFit& input) const {
    CutPieces own = match_.pieces_of(cut.of_a, tensor), other = match_.pieces_of(!cut.of_a, value);
    const CutQuestion question{"", factors_of(input.a), factors_of(input.b), CutQuestion::Effort::kUsual, {}, {}};
    const CutMatch::Stated stated = match_.stated_of(cut.of_a, tensor);
    std::optional<CutFit> found = cut.of_a ? match_.find_stated(own, other, question, stated, {})
                                           : match_.find_stated(other, own, question, {}, stated);
    if (found && (found->agreement >= CutMatch::kLike || stated.layout == (cut.of_a ? found->a : found->b)))
      return found;
    CutFit meant = input;
    for (CutDim& dim : (cut.of_a ? meant.a : meant.b).dims) {
      if (is_reduced(dim.role)) dim.role = CutRole::kCopy;
    }
    meant.confidence /= 2;
    meant.known = true;
    // Of a list, each tensor is another rank's part.
    if (cut.own->tensors()[tensor].name.slot.find('.') != std::string_view::npos) return std::nullopt;
    if (ok(own) && fits_shapes(cut.of_a ? meant.a : meant.b, shapes_of(own), meant.whole)) return meant;
    return found;
  }

  CutMatch& match_;
};

}  // namespace

Status pair_collectives(CutMatch& match) { return CollectivePartners(match).run(); }

}  // namespace msdump
