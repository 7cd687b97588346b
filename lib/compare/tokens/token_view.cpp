#include "compare/tokens/token_view.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/placement/sharded_side.h"
#include "compare/tokens/fused_modules.h"
#include "compare/tokens/module_names.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

int64_t tokens_of(const TokenRows& rows) {
  int64_t tokens = 0;
  for (const TokenSequence& one : rows.sequences) tokens += static_cast<int64_t>(one.ids.size());
  return tokens;
}

// True if a backward pass was dumped: the side trains.
bool has_gradients(const CompareSide& side) {
  return std::any_of(side.tensors->begin(), side.tensors->end(), [](const TensorRecord& tensor) {
    return is_gradient_name(tensor.name.op_name) || forward_entry_of(tensor.name.op_name).has_value();
  });
}

void add_limits(const TokenRows& rows, ReachedLimits& limits) {
  if (rows.cut_short > 0) {
    limits.insert(
        {"token_sequences", kMostTried, "of the sequences that a token may continue, only the first were looked at"});
  }
}

}  // namespace

std::string form_of(const TokenSide& side) {
  const std::vector<PassRows>& passes = side.rows().passes;
  const auto is_padded = [](const PassRows& pass) { return pass.batch > 1; };
  const bool padded = std::any_of(passes.begin(), passes.end(), is_padded);
  const uint32_t groups = side.passes().groups;
  const std::string of = groups > 1 ? fmt::format(" on {} groups of ranks", groups) : "";
  if (passes.size() > 1) return fmt::format("{} passes{}, {}", passes.size(), of, padded ? "padded" : "packed");
  const PassRows& only = passes.front();
  return padded ? fmt::format("padded {}x{}", only.batch, only.rows / only.batch) : fmt::format("packed {}", only.rows);
}

Result<std::unique_ptr<TokenView>> view_tokens(const CompareSide& a, const CompareSide& b, TokenUse use,
                                               const RunContext& context) {
  if (use == TokenUse::kNever) return nullptr;
  const bool asked = use == TokenUse::kAlways;
  const TokenIds ids_a = find_token_ids(a);
  if (ids_a.records.empty() && !asked) return nullptr;
  // Of two trainings, tensors of ranks are put together (match/placement), whatever rows each rank has.
  if (!asked && sharding_differs(a, b) && has_gradients(a) && has_gradients(b)) return nullptr;
  const TokenIds ids_b = find_token_ids(b);
  if (!asked && (ids_b.records.empty() || !rows_differ(a, ids_a, b, ids_b))) return nullptr;
  const auto problem = [&](Side side, const Error& error) -> Result<std::unique_ptr<TokenView>> {
    if (error.code == ErrorCode::kCancelled) return fail(error);
    if (!asked) return nullptr;
    Error usage = error;
    usage.code = ErrorCode::kUsage;
    usage.message = fmt::format("--tokens: the tokens of the {} are not known: {}", name_of(side), error.message);
    return fail(std::move(usage));
  };
  Result<RunPasses> passes_a = run_passes(a, ids_a, context.cancel);
  if (!passes_a) return problem(Side::kCandidate, passes_a.error());
  Result<RunPasses> passes_b = run_passes(b, ids_b, context.cancel);
  if (!passes_b) return problem(Side::kReference, passes_b.error());
  // The ids of other things, such as the atoms of molecules, may have other shapes on the two sides as well.
  const auto tells_sequences = [](const RunPasses& passes) {
    return std::any_of(passes.inputs.begin(), passes.inputs.end(),
                       [](const TokenInputs& inputs) { return inputs.tells_sequences(); });
  };
  if (!asked && !tells_sequences(*passes_a) && !tells_sequences(*passes_b)) return nullptr;
  // The side with fewer passes has its sequences in one piece, and tells how those of the other join. If nothing tells where its
  // sequences begin, the other side does.
  const bool a_first = passes_a->inputs.size() < passes_b->inputs.size();
  const std::vector<TokenInputs>&first = (a_first ? *passes_a : *passes_b).inputs,
        &second = (a_first ? *passes_b : *passes_a).inputs;
  TokenRows of_first = token_rows(first, {});
  TokenRows of_second = token_rows(second, KnownBeginnings(of_first.sequences));
  if (!first.front().tells_sequences()) {
    of_second = token_rows(second, {});
    of_first = token_rows(first, KnownBeginnings(of_second.sequences));
  }
  TokenRows rows_a = std::move(a_first ? of_first : of_second), rows_b = std::move(a_first ? of_second : of_first);
  auto view = std::make_unique<TokenView>();
  view->match = match_sequences(rows_a.sequences, rows_b.sequences);
  const int64_t fewer = std::min(tokens_of(rows_a), tokens_of(rows_b));
  if (view->match.tokens == 0 || (!asked && 2 * view->match.tokens < fewer)) {
    if (!asked) return nullptr;
    return fail(ErrorCode::kUsage, "--tokens: the two sides have no tokens in common ({} and {} were looked at)",
                plural(rows_a.sequences.size(), "sequence"), rows_b.sequences.size());
  }
  add_limits(rows_a, view->limits);
  add_limits(rows_b, view->limits);
  if (view->match.cut_short) {
    view->limits.insert({"cached_sequences", kMostCompared,
                         "not all sequences whose first tokens were cached were looked for on the other side"});
  }
  view->a = std::make_unique<TokenSide>(a, std::move(*passes_a), std::move(rows_a), view->match, Side::kCandidate);
  view->b = std::make_unique<TokenSide>(b, std::move(*passes_b), std::move(rows_b), view->match, Side::kReference);
  const std::vector<TokenSide::Fused> of_a = fused_modules(*view->a, *view->b, view->relations);
  const std::vector<TokenSide::Fused> of_b = fused_modules(*view->b, *view->a, view->relations);
  view->a->split(of_a);
  view->b->split(of_b);
  view->names = module_names(view->a->operators(), view->b->operators());
  return view;
}

void align_names(TokenView& view) {
  using Key = std::tuple<std::string, Io, std::string_view, uint32_t>;
  const auto by_name = [&](Side side) {
    std::map<Key, std::vector<RecordId>> found;
    const std::vector<TensorRecord>& tensors = view.of(side).tensors();
    for (RecordId i{0}; i < tensors.size(); ++i) {
      if (!view.of(side).has_rows(i)) continue;
      const NameFacts& name = tensors[i].name;
      const bool is_renamed = side == Side::kCandidate && view.names;
      std::string own = is_renamed ? view.names->path_renamed(name.op_name) : std::string(name.op_name);
      found[{std::move(own), name.io, name.slot, tensors[i].occurrence}].push_back(i);
    }
    return found;
  };
  const std::map<Key, std::vector<RecordId>> of_b = by_name(Side::kReference);
  for (const auto& [key, tensors] : by_name(Side::kCandidate)) {
    const auto other = of_b.find(key);
    if (other == of_b.end()) continue;
    const std::vector<CommonRows> rows =
        intersection(view.a->rows_of(tensors.front()), view.b->rows_of(other->second.front()));
    if (rows.empty()) continue;
    const auto has_same = [&](const TokenSide& side, const std::vector<RecordId>& all) {
      return std::all_of(all.begin(), all.end(),
                         [&](RecordId one) { return side.rows_of(one) == side.rows_of(all.front()); });
    };
    if (!has_same(*view.a, tensors) || !has_same(*view.b, other->second)) continue;
    for (const RecordId one : tensors) view.a->restrict_to(one, rows);
    for (const RecordId one : other->second) view.b->restrict_to(one, rows);
  }
}

bool statistics_of_other_rows(const CompareSide& a, const CompareSide& b) {
  const TokenIds ids_a = find_token_ids(a, true);
  if (ids_a.records.empty() || !find_token_ids(a).records.empty()) return false;
  const TokenIds ids_b = find_token_ids(b, true);
  return !ids_b.records.empty() && rows_differ(a, ids_a, b, ids_b);
}

void part_other_rows(const CompareSide& a, const CompareSide& b, Pairing& pairing) {
  std::vector<TensorPair> parted;
  for (const TensorPair& pair : pairing.tensors) {
    const Shape* const shape_a = pair.a == kNoId ? nullptr : (*a.tensors)[pair.a].shape;
    const Shape* const shape_b = pair.b == kNoId ? nullptr : (*b.tensors)[pair.b].shape;
    if (shape_a == nullptr || shape_b == nullptr || without_ones(*shape_a) == without_ones(*shape_b)) {
      parted.push_back(pair);
      continue;
    }
    for (const Side side : kBothSides) {
      TensorPair& alone = parted.emplace_back(pair);
      alone[opposite(side)] = kNoId;
      alone.alone = Alone::kOtherStatistics;
    }
  }
  pairing.tensors = std::move(parted);
}

}  // namespace msdump
