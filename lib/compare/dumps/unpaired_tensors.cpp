#include "compare/dumps/unpaired_tensors.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"
#include "ge/operators/operator_table.h"
#include "graph/op_graph.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

// The edit distance if it is below `bound`, else `bound`. The common beginning and end of both names are skipped.
size_t distance_below(size_t bound, std::string_view a, std::string_view b) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap >= bound) return bound;
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  return a.size() * b.size() > kLongestName * kMostTried ? bound : std::min(bound, edit_distance(a, b));
}

SequencedOpId nearest_to(const Pairing& pairing, OperatorId place) {
  const OpPair& alone = pairing.operators[place];
  const Side side = alone.present_side();
  const std::string& name = pairing.operators_of(side)[alone[side]].name;
  if (name.size() > kLongestName) return kNoId;
  const std::string plain = to_lower(normalised_op_name(name));
  const size_t first = place - std::min<size_t>(place, kMostTried);
  const size_t end = std::min(pairing.operators.size(), size_t{place} + kMostTried + 1);
  SequencedOpId nearest;
  size_t bound = plain.size() / 3 + 1;
  for (size_t i = first; i < end && bound > 0; ++i) {
    const SequencedOpId other = pairing.operators[i][opposite(side)];
    if (other == kNoId) continue;
    const std::string& other_name = pairing.operators_of(opposite(side))[other].name;
    const size_t distance = distance_below(bound, plain, to_lower(normalised_op_name(other_name)));
    if (distance == bound) continue;
    bound = distance;
    nearest = other;
  }
  return nearest;
}

}  // namespace

std::vector<SequencedOpId> nearest_names(const Pairing& pairing, WorkerPool& pool) {
  std::vector<SequencedOpId> result(pairing.operators.size());
  std::vector<OperatorId> asked;
  Sides<size_t> counts{0, 0};
  for (OperatorId i{0}; i < pairing.operators.size(); ++i) {
    const OpPair& pair = pairing.operators[i];
    if (pair.is_paired()) continue;
    const Side side = pair.present_side();
    const bool has_tensors = !pairing.operators_of(side)[pair[side]].tensors.empty();
    if (has_tensors && counts[side]++ < kMostTried) asked.push_back(i);
  }
  pool.parallel_for(static_cast<int64_t>(asked.size()), [&](int64_t index) {
    const OperatorId place = asked[static_cast<size_t>(index)];
    result[place] = nearest_to(pairing, place);
  });
  return result;
}

UnpairedReasons::UnpairedReasons(const Sides<ListedSide>& dumps, const Pairing& pairing, WorkerPool& pool)
    : dumps_{&dumps.a.side, &dumps.b.side}, pairing_(pairing), nearest_(nearest_names(pairing, pool)) {
  for (const Side side : kBothSides) contents_[side] = content_of(side, dumps[side].failures);
}

UnpairedReasons::Content UnpairedReasons::content_of(Side side, const std::vector<Error>& failures) const {
  Content content;
  const DumpIndex& index = *dumps_[side]->index;
  for (const IndexedFolder& folder : index.folders()) {
    if (folder.identity.step) content.steps.insert(*folder.identity.step);
  }
  for (const SequencedOp& op : pairing_.operators_of(side)) {
    if (op.rank) content.ranks.insert(*op.rank);
  }
  const bool any_alone = std::any_of(pairing_.operators.begin(), pairing_.operators.end(),
                                     [](const OpPair& pair) { return !pair.is_paired(); });
  for (OperatorId i{0}; any_alone && i < pairing_.operators.size(); ++i) {
    const OpPair& pair = pairing_.operators[i];
    if (!pair.is_paired()) continue;
    const SequencedOp& op = pairing_.operators_of(side)[pair[side]];
    content.operators.try_emplace({op.rank, normalised_op_name(op.name)}, i);
  }
  std::map<std::string_view, std::string_view> messages;  // by path; about whole files
  for (const Error& failure : failures) {
    if (failure.tensor.empty()) messages.emplace(failure.path, failure.message);
  }
  if (messages.empty()) return content;
  for (const IndexedFile& file : index.files()) {
    const auto found = messages.find(index.path_of(file));
    if (found == messages.end()) continue;
    const Identity identity = index.identity_of(file);
    const bool one_tensor = !identity.name.slot.empty();
    content.unreadable.emplace(
        FileKey{identity.rank, identity.step, std::string(identity.name.op_type),
                normalised_op_name(identity.name.op_name),
                one_tensor ? std::optional<Io>(identity.name.io) : std::nullopt, std::string(identity.name.slot)},
        found->second);
  }
  return content;
}

const std::string* UnpairedReasons::unreadable_in(Side side, const Identity& identity) const {
  const std::map<FileKey, std::string>& unreadable = contents_[side].unreadable;
  if (unreadable.empty()) return nullptr;
  FileKey key{identity.rank,
              identity.step,
              std::string(identity.name.op_type),
              normalised_op_name(identity.name.op_name),
              identity.name.io,
              std::string(identity.name.slot)};
  auto found = unreadable.find(key);
  if (found != unreadable.end()) return &found->second;
  std::get<4>(key).reset();
  std::get<5>(key).clear();
  found = unreadable.find(key);
  return found == unreadable.end() ? nullptr : &found->second;
}

TensorDiff UnpairedReasons::explain(const TensorPair& pair) const {
  TensorDiff diff;
  const Side present = pair.present_side(), missing = opposite(present);
  const CompareSide& dump = *dumps_[present];
  const Identity identity = identity_of(*dump.index, (*dump.tensors)[pair[present]]);
  if (const std::string* const message = unreadable_in(missing, identity); message != nullptr) {
    diff.verdict = Verdict::kSkipped;
    diff.reason = fmt::format("cannot be read in the {}: {}", msdump::name_of(missing), *message);
    return diff;
  }
  if (pair.alone != Alone::kUnknown) {
    diff.verdict = Verdict::kSkipped;
    diff.reason = known_reason(pair);
    return diff;
  }
  diff.verdict = Verdict::kUnmatched;
  // A single rank on each side is compared whatever its number is.
  if (identity.rank && several_ranks() && contents_[missing].ranks.count(*identity.rank) == 0) {
    diff.no_such_place = true;
    diff.reason = fmt::format("the {} has no rank {}", msdump::name_of(missing), *identity.rank);
  } else if (!pairing_.of_parameters && identity.step && contents_[missing].steps.count(*identity.step) == 0) {
    diff.no_such_place = true;
    diff.reason = fmt::format("the {} has no step {}", msdump::name_of(missing), *identity.step);
  } else if (const std::string_view lone = lone_dump_of(pair); !lone.empty()) {
    diff.no_such_place = true;
    diff.reason = fmt::format("the {} has no {}/", msdump::name_of(missing), lone);
  } else {
    diff.reason = fmt::format("not in the {}{}", msdump::name_of(missing), hint(missing, pair.op));
  }
  return diff;
}

std::string_view UnpairedReasons::lone_dump_of(const TensorPair& pair) const {
  const Side side = pair.present_side();
  const SequencedOpId op = pairing_.operators[pair.op][side];
  if (op == kNoId) return {};
  const std::string_view dump = pairing_.dump_name(pairing_.operators_of(side)[op].dump);
  const std::vector<std::string>& alone = pairing_.dumps_alone[side];
  return std::find(alone.begin(), alone.end(), dump) == alone.end() ? std::string_view() : dump;
}

std::string UnpairedReasons::known_reason(const TensorPair& pair) const {
  const Side missing = opposite(pair.present_side());
  const SequencedOpId op = pairing_.operators[pair.op][missing];
  const std::string_view side = msdump::name_of(missing);
  const std::string_view name =
      op == kNoId ? std::string_view() : std::string_view(pairing_.operators_of(missing)[op].name);
  switch (pair.alone) {
    case Alone::kInserted:
      return fmt::format("inserted by the compiler: {}", ge::OperatorTable::get().inserted(pairing_.op_type(pair.op)));
    case Alone::kFused: return fmt::format("fused into {}", name);
    case Alone::kSplit: return "inside an operator that the compiler split";
    case Alone::kNoOutput: return fmt::format("not an output of {}", name);
    case Alone::kAttribute: return fmt::format("an attribute in the {}", side);
    case Alone::kNoKernel: return fmt::format("no kernel in the {}: no element changes", side);
    case Alone::kNoParameters: return fmt::format("the {} has no files of parameters", side);
    case Alone::kCommunication: return fmt::format("between ranks that the {} does not have", side);
    case Alone::kElsewhere: return fmt::format("compared where the {} has it, in another call", side);
    case Alone::kOtherRows:
      return "its rows are not tokens on both sides, and its values change from pass to pass or in shape";
    case Alone::kOtherStatistics:
      return "its statistics are of other rows: dump elements to compare them token by token";
    case Alone::kBackward: return fmt::format("of the backward pass, which the {} does not have", side);
    case Alone::kTied:  // the pairing's note names the parameter
    case Alone::kUnknown: break;
  }
  return {};
}

std::string UnpairedReasons::hint(Side missing, OperatorId op) const {
  const OpPair& pair = pairing_.operators[op];
  if (pair.is_paired()) return {};
  const std::vector<SequencedOp>& others = pairing_.operators_of(missing);
  const SequencedOp& alone = pairing_.operators_of(opposite(missing))[pair[opposite(missing)]];
  const auto same = contents_[missing].operators.find({alone.rank, normalised_op_name(alone.name)});
  if (same != contents_[missing].operators.end()) {
    const SequencedOpId partner = pairing_.operators[same->second][opposite(missing)];
    return fmt::format("; the operator of this name there is paired with {}",
                       pairing_.operators_of(opposite(missing))[partner].name);
  }
  if (nearest_[op] == kNoId) return {};
  const std::string_view nearest = others[nearest_[op]].name;
  if (same_name(nearest, alone.name)) return "; the operator of this name there has no partner either";
  return fmt::format("; the nearest name there is {}", nearest);
}

namespace {

constexpr TensorId kSeveral;

// Maximum, minimum, mean and deviation. No value for a constant tensor, or if one of them is unknown.
std::optional<std::array<double, 4>> statistics_of(const std::optional<double>& max, const std::optional<double>& min,
                                                   const std::optional<double>& mean,
                                                   const std::optional<double>& std) {
  if (!max || !min || !mean || !std || *max == *min) return std::nullopt;
  return std::array{*max, *min, *mean, *std};
}

}  // namespace

std::vector<std::pair<TensorId, TensorId>> exchanged_tensors(const Pairing& pairing,
                                                             const std::vector<TensorDiff>& diffs) {
  std::map<std::pair<std::array<double, 4>, std::array<double, 4>>, TensorId> differing;  // by those of a and of b
  std::vector<std::pair<TensorId, TensorId>> exchanged;
  for (TensorId i{0}; i < diffs.size() && i < pairing.tensors.size(); ++i) {
    if (diffs[i].verdict != Verdict::kDiffer) continue;
    const kernels::PairMetrics metrics = diffs[i].metrics;
    const auto a = statistics_of(metrics.max_a, metrics.min_a, metrics.mean_a, metrics.std_a);
    const auto b = statistics_of(metrics.max_b, metrics.min_b, metrics.mean_b, metrics.std_b);
    if (!a || !b || *a == *b) continue;
    const auto [known, added] = differing.try_emplace({*a, *b}, i);
    if (!added) known->second = kSeveral;
  }
  for (const auto& [statistics, tensor] : differing) {
    const auto other = differing.find({statistics.second, statistics.first});
    if (other == differing.end() || tensor == kSeveral || other->second == kSeveral || other->second < tensor) continue;
    exchanged.emplace_back(tensor, other->second);
  }
  std::sort(exchanged.begin(), exchanged.end());
  return exchanged;
}

namespace {

class LineGrouper {
 public:
  LineGrouper(const Pairing& pairing, const OperatorLines& a, const OperatorLines& b)
      : pairing_(pairing), script_{&a, &b}, expected_(alone_for_known_reason(pairing)) {}

  std::vector<OneSidedLine> run() {
    for (OperatorId i{0}; i < pairing_.operators.size(); ++i) {
      if (!pairing_.operators[i].is_paired() && !expected_[i] && in_shared_step(i)) add(i);
    }
    if (!lines_.empty()) count_shared();
    return std::move(lines_);
  }

 private:
  [[nodiscard]] const SequencedOp& op_of(Side side, OperatorId op) const {
    return pairing_.operators_of(side)[pairing_.operators[op][side]];
  }

  [[nodiscard]] bool in_shared_step(OperatorId op) const {
    const Side side = pairing_.operators[op].present_side();
    const auto& step = op_of(side, op).step;
    const std::vector<int64_t>& alone = pairing_.steps_alone[side];
    return !step || !std::binary_search(alone.begin(), alone.end(), *step);
  }

  [[nodiscard]] const SourceFrame* frame_of(Side side, OperatorId op) const {
    const SequencedOp& one = op_of(side, op);
    if (one.op == kNoId || one.tensors.empty()) return nullptr;
    return script_[side]->of(one.op).frame;
  }

  using Key = std::tuple<Side, std::string_view, uint32_t>;
  static Key key_of(Side side, const SourceFrame& frame) { return {side, frame.file, frame.line}; }

  void add(OperatorId op) {
    const Side side = pairing_.operators[op].present_side();
    const SourceFrame* const frame = frame_of(side, op);
    if (frame == nullptr) return;
    const auto [place, added] = places_.try_emplace(key_of(side, *frame), lines_.size());
    if (added) lines_.push_back({side == Side::kReference, frame, {}, 0});
    lines_[place->second].operators.push_back(op);
  }

  void count_shared() {
    for (OperatorId i{0}; i < pairing_.operators.size(); ++i) {
      if (!pairing_.operators[i].is_paired()) continue;
      for (const Side side : kBothSides) {
        const SourceFrame* const frame = frame_of(side, i);
        const auto place = frame == nullptr ? places_.end() : places_.find(key_of(side, *frame));
        if (place != places_.end()) ++lines_[place->second].shared;
      }
    }
  }

  const Pairing& pairing_;
  const Sides<const OperatorLines*> script_;
  const std::vector<bool> expected_;  // by operator: unpaired for a known reason
  std::map<Key, size_t> places_;      // indices in lines_
  std::vector<OneSidedLine> lines_;
};

}  // namespace

std::vector<OneSidedLine> one_sided_lines(const Pairing& pairing, const OperatorLines& a, const OperatorLines& b) {
  if (pairing.other_framework) return {};
  return LineGrouper(pairing, a, b).run();
}

}  // namespace msdump
