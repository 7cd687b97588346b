#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "compare/match/placement/sharded_match.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

// A weight whose elements differ between ranks.
struct Weight {
  SequencedOpId op;
  RecordId tensor;
  std::vector<std::vector<size_t>> classes;  // ranks with the same elements, as indices of Members::records
};

using WeightKind = std::tuple<std::string_view, std::optional<int64_t>, bool, Io, std::string_view, Shape>;

// True for matrices of floats. Indices of rows and tokens are no weights, because two ranks count the same ones.
bool may_be_weight(const TensorRecord& record) {
  return record.name.io != Io::kOutput && record.shape != nullptr && record.shape->size() >= 2 &&
         kind_of(record.name.dtype) == DTypeKind::kFloat;
}

class SplitSearch {
 public:
  explicit SplitSearch(const ShardedMatch& match) : match_(match), agreements_(match.agreements()) {}

  Result<Sides<ExpertSplits>> run() const {
    Sides<std::vector<Weight>> weights;
    for (const Side side : kBothSides) {
      MSDUMP_TRY(weights[side], weights_of(side));
    }
    Sides<ExpertSplits> splits;
    for (const Side side : kBothSides) splits[side] = splits_of(side, weights[side], weights[opposite(side)]);
    if (splits.a.empty() && splits.b.empty()) return splits;
    for (const Side side : kBothSides) {
      MSDUMP_TRY(splits[side], with_neighbours(std::move(splits[side]), side));
    }
    return splits;
  }

 private:
  // The weights of operators whose partner does not fit, or is missing.
  Result<std::vector<Weight>> weights_of(Side which) const {
    const ShardedSide& side = *match_.result[which];
    std::vector<Weight> weights;
    for (size_t i = 0; i < agreements_.size(); ++i) {
      const SequencedOpId op = match_.result.pairing.operators[i][which];
      if (agreements_[i] >= kUnclear || op == kNoId) continue;
      for (const RecordId tensor : side.operators()[op].tensors) {
        const TensorRecord& record = side.tensors()[tensor];
        const auto& records = side.members(tensor).records;
        if (records.size() < 2 || !may_be_weight(record)) continue;
        const bool alike = std::all_of(records.begin(), records.end(), [&](const TensorRecord* local) {
          return local != nullptr && local->shape != nullptr && *local->shape == *record.shape;
        });
        if (!alike) continue;
        MSDUMP_TRY(const std::vector<uint64_t> digests, match_.digests_of(which, tensor));
        Weight weight{op, tensor, classes_of(digests)};
        if (weight.classes.size() > 1) weights.push_back(std::move(weight));
      }
    }
    return weights;
  }

  static std::vector<std::vector<size_t>> classes_of(const std::vector<uint64_t>& digests) {
    std::vector<std::vector<size_t>> classes;
    std::map<uint64_t, size_t> known;
    for (size_t place = 0; place < digests.size(); ++place) {
      const auto [found, is_new] = known.try_emplace(digests[place], classes.size());
      if (is_new) classes.emplace_back();
      classes[found->second].push_back(place);
    }
    const bool even = std::all_of(classes.begin(), classes.end(),
                                  [&](const auto& one) { return one.size() == classes.front().size(); });
    return even ? classes : std::vector<std::vector<size_t>>();
  }

  // Splits the calls of weights of which two classes are weights of different calls of the other side.
  [[nodiscard]] ExpertSplits splits_of(Side which, const std::vector<Weight>& weights,
                                       const std::vector<Weight>& others) const {
    const ShardedSide &own = *match_.result[which], &other = *match_.result[opposite(which)];
    const auto kind = [](const SequencedOp& op, const TensorRecord& record) -> WeightKind {
      return std::tuple_cat(kind_of(op), std::tuple(record.name.io, record.name.slot, *record.shape));
    };
    std::map<RecordId, const Weight*> split_there;
    for (const Weight& one : others) split_there[one.tensor] = &one;
    // On the other side: single local tensors.
    std::map<WeightKind, std::vector<const TensorRecord*>> known;
    for (const SequencedOp& op : other.operators()) {
      for (const RecordId tensor : op.tensors) {
        if (!may_be_weight(other.tensors()[tensor])) continue;
        const std::vector<const TensorRecord*>& records = other.members(tensor).records;
        std::vector<const TensorRecord*>& locals = known[kind(op, other.tensors()[tensor])];
        const auto split = split_there.find(tensor);
        if (split == split_there.end()) {
          locals.push_back(records.front());
        } else {
          for (const std::vector<size_t>& one : split->second->classes) locals.push_back(records[one.front()]);
        }
      }
    }
    ExpertSplits splits;
    for (const Weight& weight : weights) {
      const SequencedOp& op = own.operators()[weight.op];
      const auto found = known.find(kind(op, own.tensors()[weight.tensor]));
      if (found == known.end()) continue;
      std::set<const TensorRecord*> matched;
      for (const std::vector<size_t>& one : weight.classes) {
        const TensorRecord* const local = own.members(weight.tensor).records[one.front()];
        const auto same = std::find_if(found->second.begin(), found->second.end(), [&](const TensorRecord* there) {
          return there != nullptr && !matched.contains(there) && same_values(which, local, there);
        });
        if (same != found->second.end()) matched.insert(*same);
      }
      for (uint32_t part = 0; matched.size() > 1 && part < weight.classes.size(); ++part) {
        for (const size_t place : weight.classes[part])
          splits.try_emplace({op.name, op.step, own.ranks(weight.tensor)[place]}, part);
      }
    }
    return splits;
  }

  [[nodiscard]] bool same_values(Side which, const TensorRecord* own, const TensorRecord* other) const {
    LocalTensors left = match_.locals_of(which, std::span(&own, 1));
    LocalTensors right = match_.locals_of(opposite(which), std::span(&other, 1));
    const std::optional<PlacementFit> fit = find_placement(left, right, {}, match_.prior);
    return fit && fit->is_informative && fit->agreement >= kFits;
  }

  // Splits also the calls between split calls, which read their outputs, and the backward calls of all of them.
  Result<ExpertSplits> with_neighbours(ExpertSplits splits, Side which) const {
    const ShardedSide& side = *match_.result[which];
    using PartOfRank = std::map<int64_t, uint32_t>;
    const auto parts_of = [&](const SequencedOp& op, const std::string& name) {
      PartOfRank parts;
      if (op.tensors.empty()) return parts;
      for (const int64_t rank : side.ranks(op.tensors.front())) {
        const auto found = splits.find({name, op.step, rank});
        if (found != splits.end()) parts[rank] = found->second;
      }
      return parts;
    };
    std::map<uint64_t, PartOfRank> written;  // by contents
    const auto note = [&](const SequencedOp& op, const PartOfRank& parts) -> Status {
      for (const RecordId tensor : op.tensors) {
        MSDUMP_TRY(const uint64_t contents, match_.contents_of(which, tensor));
        if (contents != 0) written.try_emplace(contents, parts);
      }
      return {};
    };
    for (const SequencedOp& op : side.operators()) {
      const PartOfRank parts = parts_of(op, op.name);
      if (!parts.empty()) MSDUMP_CHECK_OK(note(op, parts));
    }
    for (size_t i = 0; i < agreements_.size(); ++i) {
      const SequencedOpId index = match_.result.pairing.operators[i][which];
      if (index == kNoId || agreements_[i] >= kUnclear) continue;
      const SequencedOp& op = side.operators()[index];
      if (is_communication(op.type) || !parts_of(op, op.name).empty()) continue;
      PartOfRank parts;
      if (const auto forward = forward_entry_of(op.name)) parts = parts_of(op, *forward);
      for (const RecordId tensor : op.tensors) {
        if (!parts.empty() || side.tensors()[tensor].name.io == Io::kOutput) continue;
        MSDUMP_TRY(const uint64_t contents, match_.contents_of(which, tensor));
        const auto found = written.find(contents);
        if (contents != 0 && found != written.end()) parts = found->second;
      }
      for (const auto& [rank, part] : parts) splits.try_emplace({op.name, op.step, rank}, part);
      if (!parts.empty()) MSDUMP_CHECK_OK(note(op, parts));
    }
    return splits;
  }

  const ShardedMatch& match_;
  const std::vector<double> agreements_;  // by operator of the pairing
};

}  // namespace

Result<Sides<ExpertSplits>> find_expert_splits(const ShardedMatch& match) { return SplitSearch(match).run(); }

}  // namespace msdump
