#include "compare/match/placement/sharded_match.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/match/op_sequence.h"
#include "compare/match/placement/placement_choices.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr double kCertain = 0.8;                            // confidence
constexpr size_t kMostFactors = 64;                         // all of up to 5000 ranks
constexpr size_t kMostTrials = 4000, kMostTrialsOfOne = 8;  // of a run, of an operator
constexpr size_t kMostFruitless = 4;                        // thorough searches of one kind of tensor

// 1/2, 1/4, .. of so many ranks.
std::vector<double> possible_factors(size_t ranks, ReachedLimits& limits) {
  std::vector<double> factors;
  for (const int64_t divisor : divisors_of(static_cast<int64_t>(ranks))) {
    if (divisor > 1) factors.push_back(1 / static_cast<double>(divisor));
  }
  if (factors.size() > kMostFactors) {
    factors.resize(kMostFactors);
    limits.insert({"gradient_factors", kMostFactors, "not all factors were tried that gradients may be too large by"});
  }
  return factors;
}

std::vector<double> only(double factor) { return factor == 1 ? std::vector<double>() : std::vector<double>{factor}; }

bool mostly_statistics(const CompareSide& side) {
  const auto without = std::count_if(side.tensors->begin(), side.tensors->end(),
                                     [](const TensorRecord& record) { return !record.has_elements; });
  return 2 * static_cast<size_t>(without) > side.tensors->size();
}

}  // namespace

std::tuple<std::string_view, std::optional<int64_t>, bool> kind_of(const SequencedOp& op) {
  return {op.type, op.step, forward_entry_of(op.name).has_value()};
}

std::optional<int64_t> step_of(const DumpIndex& index, const TensorRecord& record) {
  return place_of(index, record).step;
}

bool ok(const CutPieces& pieces) {
  return std::visit([](const auto& of) { return of.ok(); }, pieces);
}

const std::vector<Shape>& shapes_of(const CutPieces& pieces) {
  return std::visit([](const auto& of) -> const std::vector<Shape>& { return of.shapes(); }, pieces);
}

std::optional<CutFit> find_layout(CutPieces& a, CutPieces& b, const CutQuestion& question, const CutPrior& prior) {
  return std::visit(
      [&](auto& of_a) { return find_layout(of_a, std::get<std::decay_t<decltype(of_a)>>(b), question, prior); }, a);
}

CutMatch::CutMatch(const CutInput& of_a, const CutInput& of_b, const LayoutRules* layouts_known, const RunContext& run)
    : context(run),
      layouts(layouts_known),
      whole_a(of_a.side),
      whole_b(of_b.side),
      index_a(of_a.side.index),
      index_b(of_b.side.index),
      tables_a(of_a.tables),
      tables_b(of_b.tables),
      by_statistics_(mostly_statistics(whole_a) || mostly_statistics(whole_b)) {
  result.a = std::make_unique<CutSide>(whole_a);
  result.b = std::make_unique<CutSide>(whole_b);
}

CutPieces CutMatch::pieces_of(bool of_a, std::span<const TensorRecord* const> records) const {
  ReadFailures* const failures = &(of_a ? result.a : result.b)->contents().failures();
  if (by_statistics_) return PieceStatistics(of_a ? tables_a : tables_b, records, context, failures);
  return PieceValues(of_a ? *index_a : *index_b, records, failures);
}

CutPieces CutMatch::pieces_of(bool of_a, uint32_t tensor) const {
  return pieces_of(of_a, (of_a ? result.a : result.b)->members(tensor).records);
}

CutMatch::OneSide CutMatch::cut_of(bool of_a) const {
  return of_a ? OneSide{result.a.get(), result.b.get(), index_a, index_b, true}
              : OneSide{result.b.get(), result.a.get(), index_b, index_a, false};
}

CutQuestion CutMatch::question_of(const TensorPair& pair) const {
  const TensorRecord &a = result.a->tensors()[pair.a], &b = result.b->tensors()[pair.b];
  CutQuestion question;
  question.kind = fmt::format("{}|{}|{}", name_without_numbers(a.name.op_name), name_of(a.name.io), a.name.slot);
  for (const TensorRecord* const one : {&a, &b})
    question.kind += one->shape == nullptr ? "|" : "|" + describe(*one->shape);
  const auto entry = parse_msprobe_entry(a.name.op_name);
  const bool reduced = entry && entry->kind == MsprobeEntryKind::kParameterGradients;  // by now, if they are at all
  if (!reduced && pair.a < of_backward_pass_.size() && of_backward_pass_[pair.a]) {
    question.factors_a = factors_a;
    question.factors_b = factors_b;
  }
  return question;
}

bool CutMatch::may_try(size_t& trials) {
  const size_t most = std::max(kMostTrials, kMostTrialsOfOne * result.pairing.operators.size());
  if (++trials <= most) return true;
  limits.insert({"partner_trials", most, "further calls without a partner were not compared by their values"});
  return false;
}

void CutMatch::leave_out_calls() {
  limits.insert({"partner_calls", kMostTried, "more calls than were compared may be the partner of a call"});
}

bool CutMatch::may_be_one(uint32_t a, uint32_t b) const {
  struct Extents {
    int64_t largest = 0, sum = 0;  // of the pieces: the whole has between these
  };
  const auto extents_of = [](const CutSide::Members& members) {
    std::vector<Extents> axes;
    for (const TensorRecord* const record : members.records) {
      if (record == nullptr || record->shape == nullptr) return std::vector<Extents>();
      if (axes.empty()) axes.resize(record->shape->size() + 1);
      if (record->shape->size() + 1 != axes.size()) return std::vector<Extents>();
      for (size_t axis = 0; axis < record->shape->size(); ++axis) {
        axes[axis].largest = std::max(axes[axis].largest, (*record->shape)[axis]);
        axes[axis].sum += (*record->shape)[axis];
      }
    }
    return axes;
  };
  const std::vector<Extents> of_a = extents_of(result.a->members(a)), of_b = extents_of(result.b->members(b));
  return !of_a.empty() &&
         std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                    [](const auto& x, const auto& y) { return x.largest <= y.sum && y.largest <= x.sum; });
}

bool CutMatch::is_empty(bool of_a, uint32_t tensor) const {
  const std::vector<const TensorRecord*>& records = (of_a ? result.a : result.b)->members(tensor).records;
  return std::all_of(records.begin(), records.end(), [](const TensorRecord* record) {
    return record != nullptr && record->shape != nullptr && element_count(*record->shape) == 0;
  });
}

std::optional<CutFit> CutMatch::fit_of(const TensorPair& pair, CutQuestion::Effort effort) const {
  CutPieces a = pieces_of(true, pair.a), b = pieces_of(false, pair.b);
  CutQuestion question = question_of(pair);
  question.effort = effort;
  return find_stated(a, b, question, stated_of(true, pair.a), stated_of(false, pair.b));
}

CutMatch::Stated CutMatch::stated_of(bool of_a, uint32_t tensor) const {
  const CutSide& side = of_a ? *result.a : *result.b;
  const std::vector<int64_t>& ranks = side.ranks(tensor);
  if (layouts == nullptr || ranks.size() < 2) return {};
  const NameFacts& name = side.tensors()[tensor].name;
  const StatedLayout* const line = layouts->layout_of({name.op_name, name.io, name.slot, ranks, !of_a});
  if (line == nullptr) return {};
  return {line, layout_for(*line, static_cast<int64_t>(ranks.size()))};
}

std::optional<CutFit> CutMatch::find_stated(CutPieces& a, CutPieces& b, CutQuestion question, const Stated& of_a,
                                            const Stated& of_b) const {
  question.stated_a = of_a.layout;
  question.stated_b = of_b.layout;
  std::optional<CutFit> fit = find_layout(a, b, question, prior);
  if (fit || (!of_a.layout && !of_b.layout)) return fit;
  question.stated_a.reset();
  question.stated_b.reset();
  return find_layout(a, b, question, prior);
}

std::string CutMatch::problem_of(bool of_a, uint32_t tensor, const CutFit* fit) const {
  const Stated stated = stated_of(of_a, tensor);
  if (stated.line == nullptr) return {};
  if (fit != nullptr && stated.layout && *stated.layout == (of_a ? fit->a : fit->b)) return {};
  const CutSide& side = of_a ? *result.a : *result.b;
  const Shape* const shape = side.tensors()[tensor].shape;
  return fmt::format("{}:{}: {} does not fit {} on ranks {}", layouts->path(), stated.line->line, stated.line->text,
                     shape == nullptr ? "a tensor" : describe(*shape), text_of_ranks(side.ranks(tensor)));
}

std::vector<double> CutMatch::agreements() const {
  std::vector<double> least(result.pairing.operators.size(), 1);
  for (size_t i = 0; i < fits.size(); ++i) {
    const TensorPair& pair = result.pairing.tensors[i];
    if (paired(pair)) least[pair.op] = std::min(least[pair.op], fits[i] ? fits[i]->agreement : 0);
  }
  for (size_t i = 0; i < least.size(); ++i) {
    const OpPair& pair = result.pairing.operators[i];
    if (pair.a == kNoOperator || pair.b == kNoOperator) least[i] = 0;
  }
  return least;
}

// What is between the first and the last backward call of a step. Collectives may leave what is reduced.
void CutMatch::find_backward_pass() {
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
    for (const uint32_t tensor : operators[op].tensors) of_backward_pass_[tensor] = true;
  }
}

// Those of one kind follow each other: where nothing fits several of them, as after a fault, nothing will, and the layouts
// that take longest to try are left out.
void CutMatch::find_layouts_of_kind(const std::vector<size_t>& pairs, bool first) {
  size_t fruitless = 0;
  for (const size_t i : pairs) {
    const TensorPair& pair = result.pairing.tensors[i];
    std::optional<CutFit>& fit = fits[i];
    if (context.cancel.cancelled() || (!first && (!fit || fit->confidence >= kCertain))) continue;
    const auto effort = fruitless >= kMostFruitless ? CutQuestion::Effort::kPlain
                        : first                     ? CutQuestion::Effort::kUsual
                                                    : CutQuestion::Effort::kThorough;
    fit = fit_of(pair, effort);
    if (fit && fit->agreement >= kLike) continue;
    ++fruitless;
    if (effort == CutQuestion::Effort::kPlain) searched_less_ = true;
  }
}

Status CutMatch::find_layouts() {
  const std::vector<TensorPair>& pairs = result.pairing.tensors;
  fits.assign(pairs.size(), std::nullopt);
  prior = {};
  searched_less_ = false;
  find_backward_pass();
  allow_all_factors();
  std::map<std::string, std::vector<size_t>> by_kind;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (paired(pairs[i])) by_kind[question_of(pairs[i]).kind].push_back(i);
  }
  std::vector<const std::vector<size_t>*> kinds;
  for (const auto& [kind, of_kind] : by_kind) kinds.push_back(&of_kind);
  for (const bool first : {true, false}) {
    context.pool.parallel_for(static_cast<int64_t>(kinds.size()),
                              [&](int64_t i) { find_layouts_of_kind(*kinds[static_cast<size_t>(i)], first); });
    MSDUMP_CHECK_OK(context.cancel.check());
    if (!first) break;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (fits[i] && fits[i]->confidence >= kCertain) prior.add(question_of(pairs[i]).kind, *fits[i]);
    }
    choose_factors();
  }
  return {};
}

ReachedLimits CutMatch::limits_of_layouts() const {
  ReachedLimits reached;
  if (std::any_of(fits.begin(), fits.end(), [](const auto& fit) { return fit && fit->cut_off; })) {
    reached.insert({"layouts", kMostLayouts, "not all layouts were tried that the shapes of a tensor allow"});
  }
  if (searched_less_) {
    reached.insert({"fruitless_searches", kMostFruitless,
                    "after tensors of a kind that no layout fits, only plain layouts were tried for the others"});
  }
  return reached;
}

void CutMatch::allow_all_factors() {
  factors_a = possible_factors(ranks_of(whole_a).size(), limits);
  factors_b = possible_factors(ranks_of(whole_b).size(), limits);
}

// All gradients of a run are too large by the same factor: that of most. Those with another one are looked at again.
void CutMatch::choose_factors() {
  std::map<std::pair<double, double>, size_t> counts;
  for (const std::optional<CutFit>& fit : fits) {
    if (fit && fit->tells && fit->confidence >= kCertain && (fit->a.factor != 1 || fit->b.factor != 1))
      ++counts[{fit->a.factor, fit->b.factor}];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  const std::pair<double, double> chosen = most == counts.end() ? std::pair(1.0, 1.0) : most->first;
  factors_a = only(chosen.first);
  factors_b = only(chosen.second);
  for (std::optional<CutFit>& fit : fits) {
    const auto allowed = [](double factor, double known) { return factor == 1 || factor == known; };
    if (fit && (!allowed(fit->a.factor, chosen.first) || !allowed(fit->b.factor, chosen.second))) fit->confidence = 0;
  }
}

void CutMatch::add_partner(const OneSide& cut, uint32_t op, const std::vector<Twin>& twins) {
  Pairing& pairing = result.pairing;
  std::vector<SequencedOp>& others = cut.of_a ? pairing.b : pairing.a;
  OpPair& both = pairing.operators[op];
  SequencedOp partner = (cut.of_a ? pairing.a : pairing.b)[cut.own_of(both)];
  partner.op = kNoIndex;
  partner.tensors.clear();
  for (const Twin& twin : twins) {
    TensorPair& pair = pairing.tensors[twin.pair];
    const uint32_t added = cut.other->add_tensor(twin.value, cut.own->tensors()[cut.own_of(pair)]);
    (cut.of_a ? pair.b : pair.a) = added;
    pair.alone = Alone::kUnknown;
    partner.tensors.push_back(added);
    fits[twin.pair] = twin.fit;
  }
  (cut.of_a ? both.b : both.a) = static_cast<uint32_t>(others.size());
  both.how = PairedBy::kValues;
  both.confidence = confidence(both.how);
  others.push_back(std::move(partner));
}

Result<std::vector<uint64_t>> CutMatch::digests_of(const OneSide& cut, uint32_t tensor) const {
  const std::vector<const TensorRecord*>& records = cut.own->members(tensor).records;
  const auto has_elements = [](const TensorRecord* record) { return record != nullptr && record->has_elements; };
  if (by_statistics_ && !std::all_of(records.begin(), records.end(), has_elements)) {
    const CutPieces pieces = pieces_of(cut.of_a, tensor);
    return ok(pieces) ? std::get<PieceStatistics>(pieces).digests() : std::vector<uint64_t>();
  }
  MSDUMP_TRY(PieceContents::Digests digests, cut.own->contents().of(records, context.cancel));
  return std::move(digests.of_pieces);
}

Result<uint64_t> CutMatch::contents_of(const OneSide& cut, uint32_t tensor) const {
  MSDUMP_TRY(const std::vector<uint64_t> digests, digests_of(cut, tensor));
  return contents_number(cut.own->members(tensor).ranks, digests);
}

}  // namespace msdump
