#include "divergence/equal_maths.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "base/numbers.h"
#include "compare/limits.h"
#include "divergence/model/constants.h"
#include "divergence/region_chain.h"

namespace msdump {
namespace {

using recompute::Array;
using recompute::Maybe;
using recompute::Operand;
using recompute::Question;
using recompute::Reason;
using recompute::unjudged;

constexpr int64_t kMostElementsOfRegion = int64_t{1} << 20;

double root_mean_square(const Array& x) {
  double squares = 0;
  for (const double value : x.values) squares += value * value;
  return x.values.empty() ? 0 : std::sqrt(squares / static_cast<double>(x.values.size()));
}

// NaN if an element of one side alone is not finite, or they have other numbers of elements.
double distance(const Array& x, const Array& y) {
  if (x.size() != y.size()) return std::nan("");
  double squares = 0;
  for (size_t i = 0; i < x.values.size(); ++i) {
    const double apart = x.values[i] == y.values[i] ? 0 : x.values[i] - y.values[i];
    if (!(std::isnan(x.values[i]) && std::isnan(y.values[i]))) squares += apart * apart;
  }
  return x.values.empty() ? 0 : std::sqrt(squares / static_cast<double>(x.values.size()));
}

}  // namespace

EqualMaths::Side::Side(const CompareSide& side)
    : dump(side),
      questions(side, dump.run_graph(), dump.operators()),
      reader(side, dump.operators(), recompute::kMostElements) {
  for (ExecutionId run{0}; run < dump.runs().size(); ++run) {
    if (const OpId op = op_of(run); op != kNoId) runs.emplace(std::pair(op, dump.runs()[run].place), run);
  }
}

ExecutionId EqualMaths::Side::run_of(OpId op, const RunPlace& place) const {
  const auto found = runs.find({op, place});
  return found == runs.end() ? ExecutionId() : found->second;
}

OpId EqualMaths::Side::op_of(ExecutionId run) const {
  return dump.operators()[SequencedOpId(uint32_t{dump.runs()[run].op})].op;
}

uint64_t EqualMaths::Side::source(ExecutionId run, uint32_t slot) const {
  const OpId op = op_of(run);
  for (const InputEdge& edge : inputs_of(asked->graph(), op)) {
    if (edge.slot == slot) return asked->source(op, edge);
  }
  return 0;
}

EqualMaths::EqualMaths(const RunView& view)
    : view_(view), a_(view.a()), b_(view.b()), pairs_(a_.dump.tensors() + b_.dump.tensors()) {
  const std::vector<TensorPair>& pairs = view.pairing().tensors;
  for (TensorId pair{0}; pair < pairs.size(); ++pair) {
    if (pairs[pair].a != kNoId) pairs_[pairs[pair].a] = pair;
    if (pairs[pair].b != kNoId) pairs_[a_.dump.tensors() + pairs[pair].b] = pair;
    if (view.is(pair, Verdict::kShape) && view.graph().role(pair) == TensorRole::kOutput)
      mispaired_.insert(pairs[pair].op);
  }
}

void EqualMaths::set_asked(const AskedSide& a, const AskedSide& b) {
  a_.asked = &a;
  b_.asked = &b;
  values_.clear();
}

std::optional<EqualMaths::Rewriting> EqualMaths::find(OperatorId suspect, const RunPlace& place, const Operators& known,
                                                      ReachedLimits& limits) const {
  Rewriting result;
  result.operators.insert(suspect);
  Operators apart = mispaired_;
  apart.insert(known.begin(), known.end());
  apart.insert(suspect);
  const bool other_types = !have_one_type(suspect);
  std::map<std::pair<OperatorId, uint32_t>, Sameness> same;
  const auto is_same = [&](OperatorId reader, uint32_t slot) {
    const auto [found, is_new] = same.try_emplace({reader, slot}, Sameness::kOther);
    if (is_new || found->second == Sameness::kOther)
      found->second = compare(reader, slot, place, apart, result.members, limits);
    return found->second != Sameness::kOther;
  };
  for (size_t i = 0; i <= kFewTried; ++i) {
    result.readers.clear();
    for (const OperatorId pair : result.operators) {
      for (const Side* const side : {&a_, &b_}) {
        const OpId op = side->asked->op_of(pair);
        if (op == kNoId) continue;
        const auto readers = side->asked->joint_readers(op, apart, limits, &result.members);
        if (readers.empty()) return std::nullopt;
        for (const auto& [reader, slots] : readers) result.readers[reader].insert(slots.begin(), slots.end());
      }
    }
    // A reader of another value may have been paired with an operator that does something else. The first one in the data flow.
    std::pair<ExecutionId, OperatorId> first;
    for (const auto& [reader, slots] : result.readers) {
      const OpId op = b_.asked->op_of(reader);
      const std::pair at(op == kNoId ? ExecutionId() : b_.run_of(op, place), reader);
      if (first.second != kNoId && first < at) continue;
      if (!std::all_of(slots.begin(), slots.end(), [&, one = reader](uint32_t slot) { return is_same(one, slot); }))
        first = at;
    }
    if (first.second == kNoId) {
      // Zeros alone show nothing.
      const bool shown =
          std::any_of(same.begin(), same.end(), [](const auto& value) { return value.second == Sameness::kSame; });
      return shown ? std::optional(std::move(result)) : std::nullopt;
    }
    // A suspect of one type on both sides has another argument. It is no rewriting, even if a later operator hides its effect.
    if (!other_types && !is_mispaired(first.second)) return std::nullopt;
    result.operators.insert(first.second);
    apart.insert(first.second);
  }
  return std::nullopt;
}

// False if one side alone has it.
bool EqualMaths::have_one_type(OperatorId pair) const {
  const OpId in_a = a_.asked->op_of(pair), in_b = b_.asked->op_of(pair);
  return in_a != kNoId && in_b != kNoId && a_.asked->graph().op_type(in_a) == b_.asked->graph().op_type(in_b);
}

// True if the operators of a pair are of two types, or read other values in more than one slot.
bool EqualMaths::is_mispaired(OperatorId pair) const {
  if (!have_one_type(pair)) return true;
  const OpId in_a = a_.asked->op_of(pair), in_b = b_.asked->op_of(pair);
  const std::vector<InputEdge> edges_a = inputs_of(a_.asked->graph(), in_a),
                               edges_b = inputs_of(b_.asked->graph(), in_b);
  size_t others = 0;
  for (size_t i = 0; i < std::min(edges_a.size(), edges_b.size()); ++i)
    others += a_.asked->source(in_a, edges_a[i]) != b_.asked->source(in_b, edges_b[i]) ? 1U : 0U;
  return others > 1 || edges_a.size() != edges_b.size();
}

EqualMaths::Sameness EqualMaths::compare(OperatorId reader, uint32_t slot, const RunPlace& place,
                                         const Operators& apart, Operators& members, ReachedLimits& limits) const {
  const auto input_of = [&](const Side& side) -> std::pair<ExecutionId, const RunInput*> {
    const OpId op = side.asked->op_of(reader);
    const ExecutionId run = op == kNoId ? ExecutionId() : side.run_of(op, place);
    if (run == kNoId) return {run, nullptr};
    for (const RunInput& input : side.dump.runs()[run].inputs) {
      if (input.slot == slot) return {run, &input};
    }
    return {run, nullptr};
  };
  const auto value_of = [&](const Side& side) -> Maybe<Array> {
    const auto [run, input] = input_of(side);
    return input == nullptr ? unjudged(Reason::kRegion) : compute(side, run, *input, apart, members);
  };
  const auto is_known = [&](const Maybe<Array>& value) {
    if (!value && value.error().reason == Reason::kTooLarge)
      limits.insert({"elements_of_a_region", kMostElementsOfRegion,
                     "operators on larger tensors that are written otherwise on both sides were not computed"});
    return value.has_value();
  };
  const Maybe<Array> ours = value_of(a_);
  if (!is_known(ours)) return Sameness::kOther;
  const Maybe<Array> theirs = value_of(b_);
  if (!is_known(theirs)) return Sameness::kOther;
  const double size = root_mean_square(*theirs);
  if (!(distance(*ours, *theirs) <= kNineDigits * size)) return Sameness::kOther;
  if (!is_near(check::tensor_of(*input_of(a_).second), *ours)) return Sameness::kOther;
  return size == 0 ? Sameness::kZeros : Sameness::kSame;
}

bool EqualMaths::is_member(const Side& side, ExecutionId run, const Operators& apart) const {
  if (run == kNoId) return false;
  const OpId op = side.op_of(run);
  return op != kNoId && (!side.asked->is_paired(op) || apart.count(side.asked->pair(op)) > 0);
}

// In the order of the data flow, which is that of executions.
std::optional<std::vector<ExecutionId>> EqualMaths::region_before(const Side& side, ExecutionId last,
                                                                  const Operators& apart) const {
  std::set<ExecutionId> members = {last};
  std::vector<ExecutionId> next = {last};
  while (!next.empty()) {
    const ExecutionId run = next.back();
    next.pop_back();
    for (const RunInput& input : side.dump.runs()[run].inputs) {
      if (!is_member(side, input.producer, apart) || !members.insert(input.producer).second) continue;
      if (members.size() > kMostTried) return std::nullopt;
      next.push_back(input.producer);
    }
  }
  return std::vector<ExecutionId>(members.begin(), members.end());
}

Maybe<Array> EqualMaths::compute(const Side& side, ExecutionId reader, const RunInput& input, const Operators& apart,
                                 Operators& into) const {
  const RunPlace& place = side.dump.runs()[reader].place;
  if (!is_member(side, input.producer, apart)) {
    const TensorId tensor = candidate_tensor(side.source(reader, input.slot), place);
    if (tensor == kNoId) return unjudged(Reason::kRegion);
    MSDUMP_TRY(Array value, open(tensor, nullptr));
    if (recompute::size_of(value.shape) > kMostElementsOfRegion) return unjudged(Reason::kTooLarge);
    MSDUMP_CHECK_OK(recompute::load_elements(value));
    return value;
  }
  const auto members = region_before(side, input.producer, apart);
  if (!members) return unjudged(Reason::kRegion);
  RegionChain chain(side.dump, side.questions);
  for (const ExecutionId member : *members) {
    into.insert(side.asked->pair(side.op_of(member)));
    MSDUMP_CHECK_OK(chain.add(member, [&](Operand& operand, const RunInput& one) -> Maybe<void> {
      if (one.from == InputEdge::From::kConstant) {
        if (&side == &b_) operand.tensor = TensorId(a_.dump.tensors() + operand.tensor);
        return {};
      }
      operand.tensor = candidate_tensor(side.source(member, one.slot), place);
      return operand.tensor == kNoId ? unjudged(Reason::kRegion, operand.name) : Maybe<void>();
    }));
    if (rounds_to_integers(side, chain.questions().back())) return unjudged(Reason::kRegion);
  }
  const std::string* const name = chain.name_of(input.produced);
  if (name == nullptr) return unjudged(Reason::kRegion);
  for (Question& question : chain.questions()) {
    for (recompute::AskedOutput& output : question.outputs) output.tensor = {};
  }
  MSDUMP_TRY(const recompute::Outputs outputs,
             recompute::compute_question(
                 std::move(chain).joined(), [&](TensorId tensor, const Shape* shape) { return open(tensor, shape); },
                 kMostElementsOfRegion));
  for (const recompute::Output& output : outputs) {
    if (output.name == *name && output.answers.size() == 1) return output.answers.front().y;
  }
  return unjudged(Reason::kRegion);
}

// Kernels compute casts without rounding.
bool EqualMaths::rounds_to_integers(const Side& side, const Question& question) {
  return question.row->kernel->name == "cast" &&
         std::any_of(question.outputs.begin(), question.outputs.end(), [&](const recompute::AskedOutput& output) {
           return output.tensor == kNoId || kind_of(side.dump.record(output.tensor).name.dtype) != DTypeKind::kFloat;
         });
}

TensorId EqualMaths::candidate_tensor(uint64_t source, const RunPlace& place) const {
  if (values_.empty()) {
    for (ExecutionId run{0}; run < a_.dump.runs().size(); ++run) {
      const OpRun& one = a_.dump.runs()[run];
      if (a_.op_of(run) == kNoId) continue;
      auto& known = values_[one.place];
      for (const RunInput& input : one.inputs) {
        // Statistics are known of tensors that were compared.
        for (const TensorId tensor : {input.produced, input.tensor}) {
          if (tensor == kNoId) continue;
          const auto [value, first] = known.emplace(a_.source(run, input.slot), tensor);
          if (!first && is_compared(tensor)) value->second = tensor;
        }
      }
    }
  }
  const auto known = values_.find(place);
  if (known == values_.end()) return {};
  const auto found = known->second.find(source);
  return found == known->second.end() ? TensorId() : found->second;
}

bool EqualMaths::is_compared(TensorId tensor) const {
  return pairs_[tensor] != kNoId && view_.pairing().tensors[pairs_[tensor]].is_paired();
}

Maybe<Array> EqualMaths::open(TensorId tensor, const Shape* shape) const {
  const size_t of_candidate = a_.dump.tensors();
  const Side& side = tensor < of_candidate ? a_ : b_;
  const TensorRecord& record = side.dump.record(tensor < of_candidate ? tensor : TensorId(tensor - of_candidate));
  if (!record.has_elements) return draw(tensor, shape != nullptr ? shape : record.shape);
  return tensor < of_candidate ? a_.reader.open(tensor, shape) : b_.reader.open(TensorId(tensor - of_candidate), shape);
}

Maybe<Array> EqualMaths::draw(TensorId tensor, const Shape* shape) const {
  const TensorId pair = pairs_[tensor];
  if (pair == kNoId || shape == nullptr) return unjudged(Reason::kStatistics);
  if (recompute::size_of(*shape) > kMostElementsOfRegion) return unjudged(Reason::kTooLarge);
  const kernels::PairMetrics metrics = view_.diff(pair).metrics;
  const bool of_a = tensor < a_.dump.tensors();
  const auto least = of_a ? metrics.min_a : metrics.min_b, most = of_a ? metrics.max_a : metrics.max_b;
  const DType dtype = of_a ? view_.diff(pair).dtype_a : view_.diff(pair).dtype_b;
  if (!least || !most || !std::isfinite(*least) || !std::isfinite(*most)) return unjudged(Reason::kStatistics);
  std::minstd_rand random(uint32_t{tensor} + 1);
  Array drawn = recompute::make_array(*shape);
  drawn.dtype = dtype;
  for (double& value : drawn.values) {
    const double share = static_cast<double>(random() - std::minstd_rand::min()) /
                         static_cast<double>(std::minstd_rand::max() - std::minstd_rand::min());
    value = *least + share * (*most - *least);
    if (kind_of(dtype) != DTypeKind::kFloat) value = std::round(value);
  }
  return drawn;
}

bool EqualMaths::is_near(TensorId written, const Array& value) const {
  if (written == kNoId) return true;  // what reads it shows no error of it alone
  if (a_.dump.record(written).has_elements) {
    const auto read = a_.reader.read(written, nullptr);
    return read && distance(**read, value) <= kMostNoise * root_mean_square(value);
  }
  const TensorId pair = pairs_[written];
  const auto error = pair == kNoId ? std::nullopt : view_.error(pair);
  return !error || error->relative <= kMostNoise;
}

}  // namespace msdump
