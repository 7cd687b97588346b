#include "compare/dumps/no_partner.h"

#include <fmt/format.h>

#include "compare/match/nearest_name.h"
#include "ge/operators/operator_table.h"
#include "graph/name_table.h"
#include "graph/op_name.h"

namespace msdump {

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

}  // namespace msdump
