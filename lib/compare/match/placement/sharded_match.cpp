#include "compare/match/placement/sharded_match.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/op_sequence.h"
#include "compare/match/placement/distribution.h"
#include "compare/match/placement/placement_choices.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

bool mostly_statistics(const CompareSide& side) {
  const auto without = std::count_if(side.tensors->begin(), side.tensors->end(),
                                     [](const TensorRecord& record) { return !record.has_elements; });
  return 2 * static_cast<size_t>(without) > side.tensors->size();
}

}  // namespace

OpKind kind_of(const SequencedOp& op) { return {op.type, op.step, forward_entry_of(op.name).has_value()}; }

bool ok(const LocalTensors& pieces) {
  return std::visit([](const auto& of) { return of.ok(); }, pieces);
}

const std::vector<Shape>& shapes_of(const LocalTensors& pieces) {
  return std::visit([](const auto& of) -> const std::vector<Shape>& { return of.shapes(); }, pieces);
}

std::optional<PlacementFit> find_placement(LocalTensors& a, LocalTensors& b, const PlacementQuery& query,
                                           const PlacementPrior& prior) {
  return std::visit(
      [&](auto& of_a) { return find_placement(of_a, std::get<std::decay_t<decltype(of_a)>>(b), query, prior); }, a);
}

ShardedMatch::ShardedMatch(const ShardedInput& a, const ShardedInput& b, const PlacementRules* stated,
                           const RunContext& run)
    : context(run),
      rules(stated),
      inputs{a.side, b.side},
      tables{&a.tables, &b.tables},
      by_statistics_(mostly_statistics(inputs.a) || mostly_statistics(inputs.b)) {
  for (const Side side : kBothSides) result[side] = std::make_unique<ShardedSide>(inputs[side]);
}

LocalTensors ShardedMatch::locals_of(Side side, std::span<const TensorRecord* const> records) const {
  ReadFailures* const failures = &result[side]->contents().failures();
  if (by_statistics_) return LocalStatistics(*tables[side], records, context, failures);
  return LocalValues(*inputs[side].index, records, failures);
}

LocalTensors ShardedMatch::locals_of(Side side, RecordId tensor) const {
  return locals_of(side, result[side]->members(tensor).records);
}

std::optional<int64_t> ShardedMatch::step_of(Side side, RecordId tensor) const {
  return place_of(*inputs[side].index, record(side, tensor)).step;
}

PlacementQuery ShardedMatch::query_of(const IndexPair<RecordId>& pair) const {
  const TensorRecord &a = record(Side::kCandidate, pair.a), &b = record(Side::kReference, pair.b);
  PlacementQuery query;
  query.kind = fmt::format("{}|{}|{}", name_without_numbers(a.name.op_name), name_of(a.name.io), a.name.slot);
  for (const TensorRecord* const one : {&a, &b})
    query.kind += one->shape == nullptr ? "|" : "|" + describe(*one->shape);
  const auto entry = parse_msprobe_entry(a.name.op_name);
  // msprobe writes parameter gradients after the all-reduce, if there is one.
  const bool is_reduced = entry && entry->kind == MsprobeEntryKind::kParameterGradients;
  if (!is_reduced && pair.a < of_backward_pass_.size() && of_backward_pass_[pair.a]) query.factors = factors;
  return query;
}

bool ShardedMatch::may_try(size_t& trials) {
  const size_t most = kMostFollowed + kFewTried * result.pairing.operators.size();
  if (++trials <= most) return true;
  limits.insert({"partner_trials", most, "further calls without a partner were not compared by their values"});
  return false;
}

void ShardedMatch::leave_out_calls() {
  limits.insert({"partner_calls", kMostTried, "more calls than were compared may be the partner of a call"});
}

bool ShardedMatch::may_be_one(RecordId a, RecordId b) const {
  if (step_of(Side::kCandidate, a) != step_of(Side::kReference, b)) return false;
  struct Extents {
    int64_t largest = 0, sum = 0;  // of the local tensors: bounds of the global one
  };
  const auto extents_of = [](const ShardedSide::Members& members) -> std::optional<std::vector<Extents>> {
    std::optional<std::vector<Extents>> axes;
    for (const TensorRecord* const record : members.records) {
      if (record == nullptr || record->shape == nullptr) return std::nullopt;
      const Shape& shape = *record->shape;
      if (!axes) axes.emplace(shape.size());
      if (shape.size() != axes->size()) return std::nullopt;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        (*axes)[axis].largest = std::max((*axes)[axis].largest, shape[axis]);
        (*axes)[axis].sum += shape[axis];
      }
    }
    return axes;
  };
  const auto of_a = extents_of(result.a->members(a)), of_b = extents_of(result.b->members(b));
  return of_a && of_b && std::equal(of_a->begin(), of_a->end(), of_b->begin(), of_b->end(), [](auto x, auto y) {
           return x.largest <= y.sum && y.largest <= x.sum;
         });
}

std::optional<PlacementFit> ShardedMatch::fit_of(const IndexPair<RecordId>& pair, PlacementQuery::Effort effort) const {
  LocalTensors a = locals_of(Side::kCandidate, pair.a), b = locals_of(Side::kReference, pair.b);
  PlacementQuery query = query_of(pair);
  query.effort = effort;
  return find_stated({&a, &b}, query, {stated_of(Side::kCandidate, pair.a), stated_of(Side::kReference, pair.b)});
}

Stated stated_of(const ShardedSide& shards, Side side, RecordId tensor, const PlacementRules* rules) {
  const std::vector<int64_t>& ranks = shards.ranks(tensor);
  if (ranks.size() < 2) return {};
  const NameFacts& name = shards.tensors()[tensor].name;
  const bool of_reference = side == Side::kReference;
  const StatedPlacement* const line =
      rules == nullptr ? nullptr : rules->placement_of({name.op_name, name.io, name.slot, ranks, of_reference});
  if (line == nullptr) return {nullptr, placement_in(shards.members(tensor).records, ranks)};
  return {line, placement_for(*line, static_cast<int64_t>(ranks.size()))};
}

std::optional<PlacementFit> ShardedMatch::find_stated(const Sides<LocalTensors*>& locals, PlacementQuery query,
                                                      const Sides<Stated>& stated) const {
  for (const Side side : kBothSides) query.stated[side] = stated[side].placement;
  std::optional<PlacementFit> fit = find_placement(*locals.a, *locals.b, query, prior);
  if (fit || (!query.stated.a && !query.stated.b)) return fit;
  query.stated = {};
  return find_placement(*locals.a, *locals.b, query, prior);
}

std::string ShardedMatch::problem_of(Side side, RecordId tensor, const std::optional<PlacementFit>& fit) const {
  const Stated stated = stated_of(side, tensor);
  if (stated.line == nullptr) return {};
  if (fit && stated.placement == (*fit)[side]) return {};
  const Shape* const shape = record(side, tensor).shape;
  return fmt::format("{}:{}: {} does not fit {} on ranks {}", rules->path(), stated.line->line, stated.line->text,
                     shape == nullptr ? "a tensor" : describe(*shape), ranges_text(result[side]->ranks(tensor)));
}

std::vector<double> ShardedMatch::agreements() const {
  std::vector<double> least;
  for (const OpPair& pair : result.pairing.operators) least.push_back(pair.is_paired() ? 1 : 0);
  for (size_t i = 0; i < fits.size(); ++i) {
    const TensorPair& pair = result.pairing.tensors[i];
    if (pair.is_paired()) least[pair.op] = std::min(least[pair.op], fits[i] ? fits[i]->agreement : 0);
  }
  return least;
}

// Finds the tensors between the first and the last backward call of a step. Collectives are left out: they may have reduced
// a gradient.
void ShardedMatch::find_backward_pass() {
  of_backward_pass_.assign(result.a->tensors().size(), false);
  const std::vector<SequencedOp>& operators = result.pairing.a;
  std::map<std::optional<int64_t>, std::pair<size_t, size_t>> passes;  // by step
  for (size_t op = 0; op < operators.size(); ++op) {
    if (forward_entry_of(operators[op].name)) passes.try_emplace(operators[op].step, op, op).first->second.second = op;
  }
  for (size_t op = 0; op < operators.size(); ++op) {
    const auto pass = passes.find(operators[op].step);
    if (pass == passes.end() || op < pass->second.first || op > pass->second.second) continue;
    if (is_communication(operators[op].type)) continue;
    for (const RecordId tensor : operators[op].tensors) of_backward_pass_[tensor] = true;
  }
}

// Tries only the cheap placements after kFewTried tensors of a kind without a placement, as behind a fault.
void ShardedMatch::find_placements_of_kind(const std::vector<size_t>& pairs, bool first) {
  size_t fruitless = 0;
  for (const size_t i : pairs) {
    const TensorPair& pair = result.pairing.tensors[i];
    std::optional<PlacementFit>& fit = fits[i];
    if (context.cancel.cancelled() || (!first && (!fit || fit->confidence >= kCertain))) continue;
    const auto effort = fruitless >= kFewTried ? PlacementQuery::Effort::kPlain
                        : first                ? PlacementQuery::Effort::kUsual
                                               : PlacementQuery::Effort::kThorough;
    fit = fit_of(pair, effort);
    if (fit && fit->agreement >= kFits) continue;
    ++fruitless;
    if (effort == PlacementQuery::Effort::kPlain) searched_less_ = true;
  }
}

Status ShardedMatch::find_placements() {
  const std::vector<TensorPair>& pairs = result.pairing.tensors;
  fits.assign(pairs.size(), std::nullopt);
  prior = {};
  searched_less_ = false;
  find_backward_pass();
  allow_all_factors();
  std::map<std::string, std::vector<size_t>> by_kind;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].is_paired()) by_kind[query_of(pairs[i]).kind].push_back(i);
  }
  std::vector<const std::vector<size_t>*> kinds;
  for (const auto& [kind, of_kind] : by_kind) kinds.push_back(&of_kind);
  for (const bool first : {true, false}) {
    context.pool.parallel_for(static_cast<int64_t>(kinds.size()),
                              [&](int64_t i) { find_placements_of_kind(*kinds[static_cast<size_t>(i)], first); });
    MSDUMP_CHECK_OK(context.cancel.check());
    if (!first) break;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (fits[i] && fits[i]->confidence >= kCertain) prior.add(query_of(pairs[i]).kind, *fits[i]);
    }
    choose_factors();
  }
  return {};
}

ReachedLimits ShardedMatch::limits_of_placements() const {
  ReachedLimits reached;
  if (std::any_of(fits.begin(), fits.end(), [](const auto& fit) { return fit && fit->cut_off; })) {
    reached.insert({"layouts", kMostFollowed, "not all layouts were tried that the shapes of a tensor allow"});
  }
  if (searched_less_) {
    reached.insert({"fruitless_searches", kFewTried,
                    "after tensors of a kind that no layout fits, only plain layouts were tried for the others"});
  }
  return reached;
}

// The factors 1/2, 1/4, .. by the divisors of the number of ranks.
void ShardedMatch::allow_all_factors() {
  for (const Side side : kBothSides) {
    factors[side].clear();
    for (const int64_t divisor : divisors_of(static_cast<int64_t>(ranks_of(inputs[side]).size()))) {
      if (divisor > 1) factors[side].push_back(1 / static_cast<double>(divisor));
    }
    if (factors[side].size() <= kMostTried) continue;
    factors[side].resize(kMostTried);
    limits.insert({"gradient_factors", kMostTried, "not all factors were tried that gradients may be too large by"});
  }
}

// Keeps the most frequent factor, which all gradients of a run share. Fits with another one are searched again.
void ShardedMatch::choose_factors() {
  std::map<std::pair<double, double>, size_t> counts;
  for (const std::optional<PlacementFit>& fit : fits) {
    if (fit && fit->is_informative && fit->confidence >= kCertain && (fit->a.factor != 1 || fit->b.factor != 1))
      ++counts[{fit->a.factor, fit->b.factor}];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  const std::pair<double, double> chosen = most == counts.end() ? std::pair(1.0, 1.0) : most->first;
  factors = {{chosen.first}, {chosen.second}};
  for (std::optional<PlacementFit>& fit : fits) {
    const auto allowed = [](double factor, double known) { return factor == 1 || factor == known; };
    if (fit && (!allowed(fit->a.factor, chosen.first) || !allowed(fit->b.factor, chosen.second))) fit->confidence = 0;
  }
}

void ShardedMatch::add_partner(Side side, OperatorId op, const std::vector<Twin>& twins) {
  Pairing& pairing = result.pairing;
  std::vector<SequencedOp>& others = pairing.operators_of(opposite(side));
  OpPair& both = pairing.operators[op];
  SequencedOp partner = pairing.operators_of(side)[both[side]];
  partner.op = kNoId;
  partner.tensors.clear();
  for (const Twin& twin : twins) {
    TensorPair& pair = pairing.tensors[twin.pair];
    const RecordId added = result[opposite(side)]->add_tensor(twin.value, record(side, pair[side]));
    pair[opposite(side)] = added;
    pair.alone = Alone::kUnknown;
    partner.tensors.emplace_back(added);
    fits[twin.pair] = twin.fit;
  }
  both[opposite(side)] = SequencedOpId(others.size());
  both.how = PairedBy::kValues;
  both.confidence = confidence(both.how);
  others.push_back(std::move(partner));
}

Result<std::vector<uint64_t>> ShardedMatch::digests_of(Side side, RecordId tensor) const {
  const std::vector<const TensorRecord*>& records = result[side]->members(tensor).records;
  const auto has_elements = [](const TensorRecord* record) { return record != nullptr && record->has_elements; };
  if (by_statistics_ && !std::all_of(records.begin(), records.end(), has_elements)) {
    const LocalTensors locals = locals_of(side, tensor);
    return ok(locals) ? std::get<LocalStatistics>(locals).digests() : std::vector<uint64_t>();
  }
  MSDUMP_TRY(LocalContents::Digests digests, result[side]->contents().of(records, context.cancel));
  return std::move(digests.of_pieces);
}

Result<uint64_t> ShardedMatch::contents_of(Side side, RecordId tensor) const {
  MSDUMP_TRY(const std::vector<uint64_t> digests, digests_of(side, tensor));
  return contents_number(result[side]->members(tensor).ranks, digests);
}

}  // namespace msdump
