#include "diff/diff_no_partner.h"

#include <fmt/format.h>

#include "compare/match/nearest_name.h"
#include "graph/op_name.h"

namespace msdump::cli {

NoPartner::NoPartner(const DiffResult& run, WorkerPool& pool)
    : run_(run),
      nearest_(nearest_names(run.pairing, pool)),
      a_(other_side("candidate", *run.a)),
      b_(other_side("reference", *run.b)) {}

NoPartner::Other NoPartner::other_side(std::string_view called, const DiffSide& side) {
  Other other;
  other.called = called;
  const DumpIndex& index = *side.side.index;
  for (const IndexedFolder& folder : index.folders()) {
    other.ranks.insert(folder.identity.rank);
    if (folder.identity.step) other.steps.insert(folder.identity.step);
  }
  std::map<std::string_view, std::string_view> messages;  // by path; of files as a whole
  for (const Error& failure : side.catalogue().list.failures()) {
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
  const Other& there = only_a ? b_ : a_;
  const Identity identity = identity_of(run_.side_of(pair).catalogue->index, run_.record_of(pair));
  if (const std::string* const message = unreadable_in(there, identity); message != nullptr) {
    diff.verdict = Verdict::kSkipped;
    diff.reason = fmt::format("cannot be read in the {}: {}", there.called, *message);
    return diff;
  }
  diff.verdict = Verdict::kUnmatched;
  if (there.ranks.count(identity.rank) == 0 && there.ranks.size() > 1) {
    diff.reason = fmt::format("the {} has no rank {}", there.called, identity.rank.value_or(-1));
    return diff;
  }
  if (identity.step && there.steps.count(identity.step) == 0) {
    diff.reason = fmt::format("the {} has no step {}", there.called, *identity.step);
    return diff;
  }
  diff.reason = fmt::format("not in the {}", there.called);
  const OpPair& op = run_.pairing.operators[pair.op];
  if (op.a != kNoOperator && op.b != kNoOperator) return diff;
  const uint32_t near = nearest_[pair.op];
  if (near != kNoOperator)
    diff.reason += "; the nearest name there is " + (only_a ? run_.pairing.b : run_.pairing.a)[near].name;
  return diff;
}

}  // namespace msdump::cli
