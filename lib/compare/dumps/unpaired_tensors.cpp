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
#include "ge/operators/operator_table.h"
#include "graph/op_graph.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr size_t kLongestName = 512;           // no operator's name is longer
constexpr size_t kMostTableCells = 256 * 256;  // of the table of a distance

// The distance if it is below `bound`, else `bound`. The common beginning and end of both names are left out.
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
  return a.size() * b.size() > kMostTableCells ? bound : std::min(bound, edit_distance(a, b));
}

uint32_t nearest_to(const Pairing& pairing, uint32_t place) {
  const OpPair& alone = pairing.operators[place];
  const bool of_a = alone.a != kNoOperator;
  const std::string& name = of_a ? pairing.a[alone.a].name : pairing.b[alone.b].name;
  if (name.size() > kLongestName) return kNoOperator;
  const std::string plain = to_lower(normalised_op_name(name));
  const size_t first = place - std::min(place, kNamesAround);
  const size_t end = std::min(pairing.operators.size(), size_t{place} + kNamesAround + 1);
  uint32_t nearest = kNoOperator;
  size_t bound = plain.size() / 3 + 1;
  for (size_t i = first; i < end && bound > 0; ++i) {
    const uint32_t other = of_a ? pairing.operators[i].b : pairing.operators[i].a;
    if (other == kNoOperator) continue;
    const std::string& there = (of_a ? pairing.b : pairing.a)[other].name;
    const size_t distance = distance_below(bound, plain, to_lower(normalised_op_name(there)));
    if (distance == bound) continue;
    bound = distance;
    nearest = other;
  }
  return nearest;
}

}  // namespace

std::vector<uint32_t> nearest_names(const Pairing& pairing, WorkerPool& pool) {
  std::vector<uint32_t> result(pairing.operators.size(), kNoOperator), asked;
  size_t of_a = 0, of_b = 0;
  for (uint32_t i = 0; i < pairing.operators.size(); ++i) {
    const OpPair& pair = pairing.operators[i];
    if (pair.a != kNoOperator && pair.b != kNoOperator) continue;
    const bool has_tensors = !(pair.a != kNoOperator ? pairing.a[pair.a] : pairing.b[pair.b]).tensors.empty();
    size_t& count = pair.a != kNoOperator ? of_a : of_b;
    if (has_tensors && count++ < kNamesAsked) asked.push_back(i);
  }
  pool.parallel_for(static_cast<int64_t>(asked.size()), [&](int64_t index) {
    const uint32_t place = asked[static_cast<size_t>(index)];
    result[place] = nearest_to(pairing, place);
  });
  return result;
}

NoPartner::NoPartner(const CompareSide& a, const std::vector<Error>& failures_a, const CompareSide& b,
                     const std::vector<Error>& failures_b, const Pairing& pairing, WorkerPool& pool)
    : a_(a),
      b_(b),
      pairing_(pairing),
      nearest_(nearest_names(pairing, pool)),
      candidate_(other_side("candidate", a, failures_a, true)),
      reference_(other_side("reference", b, failures_b, false)) {}

NoPartner::Other NoPartner::other_side(std::string_view called, const CompareSide& side,
                                       const std::vector<Error>& failures, bool is_a) const {
  Other other;
  other.called = called;
  const DumpIndex& index = *side.index;
  for (const IndexedFolder& folder : index.folders()) {
    if (folder.identity.step) other.steps.insert(*folder.identity.step);
  }
  for (const SequencedOp& op : is_a ? pairing_.a : pairing_.b) {
    if (op.rank) other.ranks.insert(*op.rank);
  }
  for (uint32_t i = 0; i < pairing_.operators.size(); ++i) {
    const OpPair& pair = pairing_.operators[i];
    if (pair.a == kNoOperator || pair.b == kNoOperator) continue;
    const SequencedOp& op = is_a ? pairing_.a[pair.a] : pairing_.b[pair.b];
    other.operators.try_emplace({op.rank, normalised_op_name(op.name)}, i);
  }
  std::map<std::string_view, std::string_view> messages;  // by path; of files as a whole
  for (const Error& failure : failures) {
    if (failure.tensor.empty()) messages.emplace(failure.path, failure.message);
  }
  if (messages.empty()) return other;
  for (const IndexedFile& file : index.files()) {
    const auto found = messages.find(index.path_of(file));
    if (found == messages.end()) continue;
    const Identity identity = index.identity_of(file);
    const bool one_tensor = !identity.name.slot.empty();
    other.unreadable.emplace(
        FileKey{identity.rank, identity.step, std::string(identity.name.op_type),
                normalised_op_name(identity.name.op_name),
                one_tensor ? std::optional<Io>(identity.name.io) : std::nullopt, std::string(identity.name.slot)},
        found->second);
  }
  return other;
}

const std::string* NoPartner::unreadable_in(const Other& there, const Identity& identity) {
  if (there.unreadable.empty()) return nullptr;
  FileKey key{identity.rank,
              identity.step,
              std::string(identity.name.op_type),
              normalised_op_name(identity.name.op_name),
              identity.name.io,
              std::string(identity.name.slot)};
  auto found = there.unreadable.find(key);
  if (found != there.unreadable.end()) return &found->second;
  std::get<4>(key).reset();
  std::get<5>(key).clear();
  found = there.unreadable.find(key);
  return found == there.unreadable.end() ? nullptr : &found->second;
}

TensorDiff NoPartner::explain(const TensorPair& pair) const {
  TensorDiff diff;
  const bool only_a = pair.b == kNoTensor;
  const Other& there = only_a ? reference_ : candidate_;
  const CompareSide& here = only_a ? a_ : b_;
  const Identity identity = identity_of(*here.index, (*here.tensors)[only_a ? pair.a : pair.b]);
  if (const std::string* const message = unreadable_in(there, identity); message != nullptr) {
    diff.verdict = Verdict::kSkipped;
    diff.reason = fmt::format("cannot be read in the {}: {}", there.called, *message);
    return diff;
  }
  if (pair.alone != Alone::kUnknown) {
    diff.verdict = Verdict::kSkipped;
    diff.reason = known_reason(pair);
    return diff;
  }
  diff.verdict = Verdict::kUnmatched;
  // One rank alone on each side is compared whatever its number is.
  if (identity.rank && several_ranks() && there.ranks.count(*identity.rank) == 0) {
    diff.no_such_place = true;
    diff.reason = fmt::format("the {} has no rank {}", there.called, *identity.rank);
  } else if (!pairing_.of_parameters && identity.step && there.steps.count(*identity.step) == 0) {
    diff.no_such_place = true;
    diff.reason = fmt::format("the {} has no step {}", there.called, *identity.step);
  } else {
    diff.reason = fmt::format("not in the {}{}", there.called, hint(there, pair.op, only_a));
  }
  return diff;
}

std::string NoPartner::known_reason(const TensorPair& pair) const {
  const bool only_a = pair.b == kNoTensor;
  const OpPair& both = pairing_.operators[pair.op];
  const uint32_t opposite = only_a ? both.b : both.a;
  const std::string_view there = only_a ? reference_.called : candidate_.called;
  const std::string_view name =
      opposite == kNoOperator ? std::string_view() : (only_a ? pairing_.b : pairing_.a)[opposite].name;
  switch (pair.alone) {
    case Alone::kInserted:
      return fmt::format("inserted by the compiler: {}", ge::OperatorTable::get().inserted(pairing_.op_type(pair.op)));
    case Alone::kFused: return fmt::format("fused into {}", name);
    case Alone::kSplit: return "between operators of the device that are one of the network";
    case Alone::kNoOutput: return fmt::format("not an output of {}", name);
    case Alone::kAttribute: return fmt::format("an attribute in the {}", there);
    case Alone::kNoKernel: return fmt::format("no kernel in the {}: no element changes", there);
    case Alone::kNoParameters: return fmt::format("the {} has no files of parameters", there);
    case Alone::kCommunication: return fmt::format("between ranks that the {} does not have", there);
    case Alone::kElsewhere: return fmt::format("compared where the {} has it, in another call", there);
    case Alone::kTied:  // the pairing's note says to what
    case Alone::kUnknown: break;
  }
  return {};
}

std::string NoPartner::hint(const Other& there, uint32_t op, bool only_a) const {
  const OpPair& pair = pairing_.operators[op];
  if (pair.a != kNoOperator && pair.b != kNoOperator) return {};
  const SequencedOp& alone = only_a ? pairing_.a[pair.a] : pairing_.b[pair.b];
  if (const auto same = there.operators.find({alone.rank, normalised_op_name(alone.name)});
      same != there.operators.end()) {
    const OpPair& other = pairing_.operators[same->second];
    return "; the operator of this name there is paired with " +
           (only_a ? pairing_.a[other.a] : pairing_.b[other.b]).name;
  }
  if (nearest_[op] == kNoOperator) return {};
  const std::string& nearest = (only_a ? pairing_.b : pairing_.a)[nearest_[op]].name;
  if (same_name(nearest, alone.name)) return "; the operator of this name there has no partner either";
  return "; the nearest name there is " + nearest;
}

namespace {

constexpr uint32_t kSeveral = UINT32_MAX;

// Nothing for a tensor of one value, and where they are not known.
std::optional<std::array<double, 4>> statistics_of(const std::optional<double>& max, const std::optional<double>& min,
                                                   const std::optional<double>& mean,
                                                   const std::optional<double>& std) {
  if (!max || !min || !mean || !std || *max == *min) return std::nullopt;
  return std::array{*max, *min, *mean, *std};
}

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> exchanged_tensors(const Pairing& pairing,
                                                             const std::vector<TensorDiff>& diffs) {
  std::map<std::pair<std::array<double, 4>, std::array<double, 4>>, uint32_t> differing;  // by those of a and of b
  std::vector<std::pair<uint32_t, uint32_t>> exchanged;
  for (uint32_t i = 0; i < diffs.size() && i < pairing.tensors.size(); ++i) {
    if (diffs[i].verdict != Verdict::kDiffer) continue;
    const auto& metrics = diffs[i].metrics;
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
      : pairing_(pairing), a_(a), b_(b), expected_(alone_for_known_reason(pairing)) {}

  std::vector<OneSidedLine> run() {
    for (uint32_t i = 0; i < pairing_.operators.size(); ++i) {
      const OpPair& pair = pairing_.operators[i];
      const bool alone = (pair.a == kNoOperator) != (pair.b == kNoOperator);
      if (alone && !expected_[i] && in_shared_step(pair)) add(i, pair.a == kNoOperator);
    }
    if (!lines_.empty()) count_shared();
    return std::move(lines_);
  }

 private:
  // Of an operator of one side.
  [[nodiscard]] bool in_shared_step(const OpPair& pair) const {
    const bool of_reference = pair.a == kNoOperator;
    const auto& step = of_reference ? pairing_.b[pair.b].step : pairing_.a[pair.a].step;
    const std::vector<int64_t>& alone = of_reference ? pairing_.steps_of_b_alone : pairing_.steps_of_a_alone;
    return !step || !std::binary_search(alone.begin(), alone.end(), *step);
  }

  [[nodiscard]] const SourceFrame* frame(uint32_t op, bool of_reference) const {
    const OpPair& pair = pairing_.operators[op];
    const SequencedOp& one = of_reference ? pairing_.b[pair.b] : pairing_.a[pair.a];
    if (one.op == kNoIndex || one.tensors.empty()) return nullptr;
    return (of_reference ? b_ : a_).of(one.op).frame;
  }

  using Key = std::tuple<bool, std::string_view, uint32_t>;
  static Key key(bool of_reference, const SourceFrame& frame) { return {of_reference, frame.file, frame.line}; }

  void add(uint32_t op, bool of_reference) {
    const SourceFrame* const found = frame(op, of_reference);
    if (found == nullptr) return;
    const auto [place, added] = places_.try_emplace(key(of_reference, *found), lines_.size());
    if (added) lines_.push_back({of_reference, found, {}, 0});
    lines_[place->second].operators.push_back(op);
  }

  void count_shared() {
    for (uint32_t i = 0; i < pairing_.operators.size(); ++i) {
      const OpPair& pair = pairing_.operators[i];
      if (pair.a == kNoOperator || pair.b == kNoOperator) continue;
      for (const bool of_reference : {false, true}) {
        const SourceFrame* const found = frame(i, of_reference);
        const auto place = found == nullptr ? places_.end() : places_.find(key(of_reference, *found));
        if (place != places_.end()) ++lines_[place->second].shared;
      }
    }
  }

  const Pairing& pairing_;
  const OperatorLines &a_, &b_;
  const std::vector<bool> expected_;
  std::map<Key, size_t> places_;  // in lines_
  std::vector<OneSidedLine> lines_;
};

}  // namespace

std::vector<OneSidedLine> one_sided_lines(const Pairing& pairing, const OperatorLines& a, const OperatorLines& b) {
  if (pairing.other_framework) return {};
  return LineGrouper(pairing, a, b).run();
}

}  // namespace msdump
