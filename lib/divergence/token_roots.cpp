#include "divergence/token_roots.h"

#include <algorithm>

#include <fmt/format.h>

#include "compare/tokens/token_errors.h"
#include "compare/tokens/token_view.h"

namespace msdump {
namespace {

bool stands_by_itself(RootRule rule) {
  return decided_by(rule) != DecidedBy::kEstimate || rule == RootRule::kParameter || rule == RootRule::kConstant ||
         rule == RootRule::kNan;
}

bool shows(const Divergence& root, TensorId tensor) {
  const auto has = [&](const std::vector<TensorId>& tensors) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  };
  return has(root.outputs) || has(root.inputs);
}

Divergence root_of(const DiffResult& run, const TokenErrors& errors, const TokenJump& jump) {
  const TensorPair& pair = run.pairing.tensors[jump.tensor];
  const TensorRecord& record = run.record_of(pair);
  const FolderIdentity place = place_of(run.side_of(pair).catalogue->index, record);
  Divergence root;
  root.op = pair.op;
  root.place = {place.rank, place.step, record.occurrence, 0};
  root.rule = RootRule::kToken;
  const bool is_output = record.name.io == Io::kOutput;
  if (is_output) {
    for (TensorId tensor{0}; tensor < run.pairing.tensors.size(); ++tensor) {
      const TensorPair& other = run.pairing.tensors[tensor];
      const bool is_input = other.op == pair.op && other.is_paired() && run.record_of(other).name.io == Io::kInput;
      if (is_input && errors.of_tensor[tensor]) root.inputs.push_back(tensor);
    }
  }
  (is_output ? root.outputs : root.inputs).push_back(jump.tensor);
  const TokenSummary& summary = *errors.of_tensor[jump.tensor];
  root.reason =
      kind_of(record.name.dtype) == DTypeKind::kInteger
          ? fmt::format("its {} {} has another whole number for {} of {} tokens, and nothing before it differs",
                        name_of(record.name.io), record.name.slot, summary.wrong, summary.tokens)
          : fmt::format("the error of a token in its {} {} is {:.2g}; it and the tokens before it had {:.2g} at most",
                        name_of(record.name.io), record.name.slot, jump.first.error, jump.before);
  return root;
}

void take_first_token(const DiffResult& run, const PairRows& pairs, OperatorId op, TokenErrors& errors) {
  for (const TensorId tensor : errors.order) {
    const TensorPair& pair = run.pairing.tensors[tensor];
    std::optional<TokenSummary>& summary = errors.of_tensor[tensor];
    if (pair.op != op || !summary || run.record_of(pair).name.io != Io::kOutput) continue;
    std::optional<WrongToken> first = first_token(pairs, pair);
    if (!first) continue;
    first->error = summary->largest;
    summary->wrong = summary->tokens;
    errors.jump = TokenJump{tensor, *first, 0};
    return;
  }
}

}  // namespace

void settle_token_root(DiffResult& run, const PairRows& pairs, TokenErrors& errors) {
  std::vector<Divergence>& roots = run.divergence.roots;
  const TokenJump* const jump = errors.jump ? &*errors.jump : nullptr;
  // Some tensors that ranks hold in parts cannot be put together, and a token may jump in one of these.
  if (pairs.is_sharded() && jump == nullptr) {
    if (!roots.empty()) take_first_token(run, pairs, roots.front().op, errors);
    return;
  }
  std::erase_if(roots, [](const Divergence& root) { return !stands_by_itself(root.rule); });
  if (jump != nullptr) {
    const OperatorId at = run.pairing.tensors[jump->tensor].op;
    const auto explains = [&](const Divergence& root) { return root.op <= at || shows(root, jump->tensor); };
    if (std::none_of(roots.begin(), roots.end(), explains)) roots.insert(roots.begin(), root_of(run, errors, *jump));
  }
  bool after = false;
  uint64_t downstream = 0;
  for (const TensorId tensor : errors.order) {
    after = after || (jump != nullptr && tensor == jump->tensor);
    if (!is_difference(run.diffs[tensor].verdict)) continue;
    const bool is_shown =
        std::any_of(roots.begin(), roots.end(), [&](const Divergence& root) { return shows(root, tensor); });
    run.divergence.explained[tensor] = is_shown ? Explanation::kNone
                                       : after  ? Explanation::kDownstream
                                                : Explanation::kNoise;
    run.divergence.unjudged[tensor] = Unjudged::kNone;
    downstream += after ? 1U : 0U;
  }
  for (RunAccount& account : run.divergence.accounts) {
    const auto is_it = [&](const Divergence& root) { return root.op == account.op; };
    if (!account.is_root || std::any_of(roots.begin(), roots.end(), is_it)) continue;
    account.is_root = false;
    account.conclusion = "no root: the error of no token jumps here";
  }
  if (jump == nullptr && !roots.empty()) take_first_token(run, pairs, roots.front().op, errors);
  if (!roots.empty() && roots.front().rule == RootRule::kToken) roots.front().downstream = downstream;
}

}  // namespace msdump
