#include "divergence/runs/run_facts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/numbers.h"
#include "check/checked_dump.h"
#include "compare/pair/precision.h"
#include "divergence/model/constants.h"
#include "graph/flow/communication.h"
#include "graph/lines/source_lines.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

// The largest relative rounding of a mean that a device adds up in float32.
constexpr double kRoundingOfMean = 1e-5;

// A hash of the reference's values; 0 if they prove nothing, because many tensors have them.
uint64_t contents_of(const TensorDiff& diff) {
  if (diff.hashes->written_b != 0) return diff.hashes->written_b;
  if (diff.hashes->checksum_b != 0) return diff.hashes->checksum_b;
  const kernels::PairMetrics metrics = diff.metrics;
  const auto elements = element_count(diff.shape);
  if (!are_telling(metrics.max_b, metrics.min_b, elements)) return 0;
  uint64_t key = mix_hash(0, static_cast<uint64_t>(elements.value_or(0)));
  for (const auto& value : {metrics.max_b, metrics.min_b, metrics.mean_b, metrics.std_b, std::optional(diff.scale)}) {
    key = (key ^ std::bit_cast<uint64_t>(value.value_or(0))) * 0xFF51'AFD7'ED55'8CCD;
    key ^= key >> 32;
  }
  return key;
}

// Files of the type Parameter count as outputs. Values at the end of a step and script variables are in no execution.
TensorRole role_in_comparison(const NameFacts& name) {
  if (name.io == Io::kOutput) return TensorRole::kOutput;
  const TensorRole role = role_of(name);
  return name.io == Io::kDebug || role == TensorRole::kParameter ? TensorRole::kOther : role;
}

}  // namespace

RunGraph paired_runs(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                     const std::vector<TensorDiff>& diffs, const PlacementEvidence* placements) {
  RunSource source;
  source.known_types = true;
  const bool of_b = has_flow(b);
  if (of_b || has_flow(a)) source.graph = of_b ? b.graph : a.graph;
  source.operators.reserve(pairing.operators.size());
  for (const OpPair& pair : pairing.operators) {
    const SequencedOp& op = pair.b != kNoId ? pairing.b[pair.b] : pairing.a[pair.a];
    RunSource::Operator& known = source.operators.emplace_back();
    known.type = op.type;
    const SequencedOpId in_flow = of_b ? pair.b : pair.a;
    if (source.graph != nullptr && in_flow != kNoId) known.op = (of_b ? pairing.b : pairing.a)[in_flow].op;
  }
  source.tensors = pairing.tensors.size();
  source.tensor = [&](TensorId index) {
    const TensorPair& pair = pairing.tensors[index];
    const Side of = pair.known_side();
    const CompareSide& side = of == Side::kReference ? b : a;
    const TensorRecord& record = (*side.tensors)[pair[of]];
    const FolderIdentity folder = place_of(*side.index, record);
    RunTensor tensor;
    tensor.op = pair.op;
    tensor.place = {folder.rank, folder.step, record.occurrence, pairing.common_dump(of, folder.dump)};
    tensor.graph = folder.graph;
    tensor.role = role_in_comparison(record.name);
    tensor.is_parameter = is_module_parameter(record.name);
    tensor.op_name = record.name.op_name;
    tensor.slot = record.name.slot;
    return tensor;
  };
  source.contents.reserve(diffs.size());
  for (size_t i = 0; i < diffs.size(); ++i) {
    const uint64_t of_pieces = placements == nullptr ? 0 : placements->contents_b[i];
    source.contents.push_back(of_pieces != 0 ? of_pieces : contents_of(diffs[i]));
  }
  if (placements != nullptr) {
    source.other_contents = placements->contents_a;
    source.same_flow = true;
  } else if (source.graph == nullptr) {
    source.other_contents.reserve(diffs.size());
    for (const TensorDiff& diff : diffs) source.other_contents.push_back(diff.hashes->written_a);
  }
  return RunGraph(std::move(source));
}

TensorFacts::TensorFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                         const std::vector<TensorDiff>& diffs, const PlacementEvidence* placements)
    : a_(a),
      b_(b),
      pairing_(pairing),
      diffs_(diffs),
      placements_(placements),
      loss_scale_(msdump::loss_scale(diffs)),
      coarser_throughout_(msdump::coarser_throughout(a, b, pairing).has_value()) {
  verdicts_.reserve(diffs_.size());
  for (const TensorDiff& diff : diffs_) {
    const bool found = diff.verdict != Verdict::kUnmatched && diff.verdict != Verdict::kSkipped;
    const bool gained_nan = diff.nan_in_a_alone || diff.metrics->nan_a > diff.metrics->nan_b;
    verdicts_.push_back({diff.verdict, found && !diff.mislabelled, gained_nan});
  }
}

bool TensorFacts::is_scaled(TensorId tensor) const {
  return loss_scale_ != 1 && is_about_times(diffs_[tensor], loss_scale_);
}

bool TensorFacts::is_attribute(TensorId tensor) const {
  return tensor != kNoId && pairing_.tensors[tensor].alone == Alone::kAttribute;
}

bool TensorFacts::any_differs(const std::vector<TensorId>& tensors) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](TensorId tensor) { return differs(tensor); });
}

bool TensorFacts::layout_known(TensorId tensor) const {
  if (placements_ == nullptr || placements_->known[tensor]) return true;
  const auto error = this->error(tensor);
  // If both sides are sharded, two wrong placements may look alike: the maximum of half a row is near that of the row.
  double most = placements_->both_sharded ? kMostError / kChangedOnTheWay : kMostError;
  // Tensors of one kind have similar statistics, so only a small error counts.
  if (error && error->by_statistics) most = kMostError / (kChangedOnTheWay * kChangedOnTheWay);
  return error && !error->discrete && error->relative < most;
}

bool TensorFacts::layout_sure(TensorId tensor) const {
  if (placements_ == nullptr || placements_->alike[tensor]) return true;
  const auto error = this->error(tensor);
  return layout_known(tensor) && error && (error->discrete || error->relative < kMostError);
}

void TensorFacts::forget(TensorId tensor) { verdicts_[tensor] = {.verdict = Verdict::kSkipped, .forgotten = true}; }

const std::vector<int64_t>& TensorFacts::ranks_not_finite(TensorId tensor) const {
  static const std::vector<int64_t> kNowhere;
  if (placements_ == nullptr) return kNowhere;
  const auto found = placements_->not_finite.find(tensor);
  return found == placements_->not_finite.end() ? kNowhere : found->second;
}

bool TensorFacts::any_compared(const std::vector<TensorId>& tensors) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](TensorId tensor) { return compared(tensor); });
}

double TensorFacts::largest_error(const std::vector<TensorId>& tensors) const {
  double largest = 0;
  for (const TensorId tensor : tensors) {
    if (const auto error = this->error(tensor)) largest = std::max(largest, error->relative);
  }
  return largest;
}

bool TensorFacts::same_in_a(TensorId left, TensorId right) const {
  const kernels::PairMetrics x = diffs_[left].metrics, &y = diffs_[right].metrics;
  return x.max_a == y.max_a && x.min_a == y.min_a && x.mean_a == y.mean_a;
}

bool TensorFacts::is_candidate_edge(TensorId input, TensorId written) const {
  if (placements_ != nullptr || !has_flow(a_) || !has_flow(b_)) return false;
  if (!edges_) {
    edges_.emplace();
    const check::CheckedDump dump(a_);
    for (const OpRun& run : dump.runs()) {
      for (const RunInput& edge : run.inputs) {
        if (edge.tensor != kNoId && edge.produced != kNoId) edges_->emplace(edge.tensor, edge.produced);
      }
    }
  }
  const auto found = edges_->find(TensorId(uint32_t{pairing_.tensors[input].a}));
  return found != edges_->end() && found->second == TensorId(uint32_t{pairing_.tensors[written].a});
}

bool TensorFacts::changed_in_candidate(TensorId input, TensorId written) const {
  const TensorDiff &in = diffs_[input], &out = diffs_[written];
  if (in.verdict == Verdict::kSame || in.mislabelled || out.mislabelled || in.dtype_a != out.dtype_a ||
      is_scaled(input) != is_scaled(written))
    return false;
  if (contents_of(in) == 0 || contents_of(in) != contents_of(out)) return false;
  const uint64_t of_in = in.hashes->checksum_a, of_out = out.hashes->checksum_a;
  if (of_in != 0 && of_out != 0) return of_in != of_out;
  // A view may lie between, whose elements are added up in another order.
  const kernels::PairMetrics x = in.metrics, &y = out.metrics;
  if (!x.max_a || !x.min_a || !y.max_a || !y.min_a) return false;
  const double rounding = kRoundingOfMean * std::max(std::fabs(*x.max_a), std::fabs(*x.min_a));
  return x.max_a != y.max_a || x.min_a != y.min_a ||
         (x.mean_a && y.mean_a && std::fabs(*x.mean_a - *y.mean_a) > rounding);
}

bool TensorFacts::same_in_b(TensorId left, TensorId right) const {
  const kernels::PairMetrics x = diffs_[left].metrics, &y = diffs_[right].metrics;
  return x.max_b == y.max_b && x.min_b == y.min_b && x.mean_b == y.mean_b && diffs_[left].scale == diffs_[right].scale;
}

std::string_view TensorFacts::slot(TensorId tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  return both.b != kNoId ? (*b_.tensors)[both.b].name.slot : (*a_.tensors)[both.a].name.slot;
}

DType TensorFacts::dtype(TensorId tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  return both.a != kNoId ? (*a_.tensors)[both.a].name.dtype : (*b_.tensors)[both.b].name.dtype;
}

std::pair<std::string_view, FolderIdentity> TensorFacts::name_and_place(TensorId tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  const Side of = both.known_side();
  const CompareSide& side = of == Side::kReference ? b_ : a_;
  const TensorRecord& record = (*side.tensors)[both[of]];
  FolderIdentity place = place_of(*side.index, record);
  place.dump = pairing_.common_dump(of, place.dump);
  return {record.name.op_name, place};
}

DType TensorFacts::expected_dtype(TensorId tensor) const {
  const TensorPair& both = pairing_.tensors[tensor];
  const DType a = both.a != kNoId ? (*a_.tensors)[both.a].name.dtype : DType::kUndefined;
  const DType b = both.b != kNoId ? (*b_.tensors)[both.b].name.dtype : DType::kUndefined;
  // Tables without a dtype column hold float32. A roundoff of 0 would make every difference one of the arithmetic.
  if (a == DType::kUndefined && b == DType::kUndefined) return DType::kFloat32;
  if (b == DType::kUndefined) return a;
  return coarser_throughout_ && unit_roundoff(a) > unit_roundoff(b) ? a : b;
}

std::string TensorFacts::parameter_like(TensorId tensor) const {
  const auto hash = [&](TensorId i) {
    uint64_t result = 0;
    const kernels::PairMetrics metrics = diffs_[i].metrics;
    for (const auto& value : {metrics.max_b, metrics.min_b, metrics.mean_b})
      result = mix_hash(result, std::bit_cast<uint64_t>(value.value_or(0) + 0.0));  // -0 is 0
    return result;
  };
  const auto same_as = [&](TensorId i) { return [this, i](uint32_t other) { return same_in_b(i, TensorId(other)); }; };
  if (!diffs_[tensor].metrics->max_b) return {};
  if (!parameters_) {
    parameters_.emplace();
    for (TensorId i{0}; i < pairing_.tensors.size(); ++i) {
      const RecordId of_b = pairing_.tensors[i].b;
      if (of_b == kNoId || (*b_.tensors)[of_b].name.io != Io::kParameter) continue;
      (void)parameters_->find_or_add(hash(i), i, same_as(i));
    }
  }
  const uint32_t found = parameters_->find(hash(tensor), same_as(tensor));
  if (found == HashSlots::kNone) return {};
  const NameFacts& name = (*b_.tensors)[pairing_.tensors[found].b].name;
  return fmt::format("{}:{}", name.op_name, name.slot);
}

void TensorFacts::add_to(InputSummary& summary, TensorId tensor) const {
  if (!compared(tensor)) return;
  summary.differ = summary.differ || differs(tensor);
  summary.all_same = summary.all_same && is(tensor, Verdict::kSame);
  summary.gained_nan = summary.gained_nan || gained_nan(tensor);
  summary.gained_inf = summary.gained_inf || is(tensor, Verdict::kNan);
  if (const auto error = this->error(tensor)) summary.largest_error = std::max(summary.largest_error, error->relative);
}

namespace {

const SourceFrame* frame_of(const CompareSide& side, const std::vector<SequencedOp>& operators, SequencedOpId op) {
  const bool in_graph = op != kNoId && operators[op].op != kNoId;
  return in_graph && side.graph != nullptr ? best_frame(*side.graph, operators[op].op) : nullptr;
}

}  // namespace

std::optional<SourceLine> line_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing, OperatorId op) {
  const OpPair& pair = pairing.operators[op];
  const SourceFrame* found = frame_of(b, pairing.b, pair.b);
  if (found == nullptr) found = frame_of(a, pairing.a, pair.a);
  return found == nullptr ? std::nullopt : std::optional(SourceLine{found->file, found->line});
}

std::optional<TensorError> TensorFacts::error(TensorId tensor) const {
  if (verdicts_[tensor].forgotten) return std::nullopt;
  std::optional<TensorError> found = error_of(diffs_[tensor], loss_scale_);
  if (!found || !verdicts_[tensor].cancels) return found;
  const double terms = terms_.at(tensor);
  found->relative *= found->rms / terms;
  found->rms = terms;
  return found;
}

void TensorFacts::measure_by_terms(TensorId tensor, double rms) {
  const auto found = error(tensor);
  const double rounding = rms * kMostRoundings * unit_roundoff(DType::kFloat32);
  if (!found || found->discrete || verdicts_[tensor].cancels || found->rms <= 0 || found->rms >= rounding) return;
  verdicts_[tensor].cancels = true;
  terms_.emplace(tensor, rms);
}

RunFacts::RunFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                   const std::vector<TensorDiff>& diffs, const PlacementEvidence* placements)
    : TensorFacts(a, b, pairing, diffs, placements),
      graph_(paired_runs(a, b, pairing, diffs, placements)),
      expected_(alone_for_known_reason(pairing)) {
  for (const OpRun& run : runs()) first_steps_.try_emplace({run.place.rank, run.place.dump}, FirstStep{run.place.step});
  find_names();
  find_passes();
  find_errors_at_start();
}

void RunFacts::find_passes() {
  backward_.resize(runs().size());
  after_backward_.resize(runs().size());
  std::vector<bool> has_backward(runs().size());
  for (ExecutionId index{0}; index < runs().size(); ++index) {
    const std::optional<std::string> forward = forward_entry_of(name(index));
    backward_[index] = forward.has_value();
    for (const ExecutionId call : runs_beside(index, forward)) has_backward[call] = true;
  }
  bool backward = false;
  for (ExecutionId index{0}; index < runs().size(); ++index) {
    const ExecutionId before(index - 1);
    // The forward pass of the next batch, if gradients of several are added up.
    if (index == 0 || place(before).rank != place(index).rank || place(before).step != place(index).step ||
        has_backward[index])
      backward = false;
    backward = backward || backward_[index];
    after_backward_[index] = backward && !backward_[index];
    if (!after_backward_[index]) continue;
    double& largest = scales_[{place(index).in_step(), op(index).type}];
    for (const RunInput& input : run(index).inputs) {
      if (enters_update(input)) largest = std::max(largest, rms_of(input.tensor));
    }
  }
  for (ExecutionId index{0}; index < runs().size(); ++index) {
    if (backward_[index] || after_backward_[index]) find_cancelled(index);
  }
}

void RunFacts::find_errors_at_start() {
  std::map<std::pair<std::optional<int64_t>, uint32_t>, std::vector<double>> errors;  // by rank and dump
  for (ExecutionId index{0}; index < runs().size(); ++index) {
    if (place(index).step.value_or(0) <= 0 || !is_first_step(index)) continue;
    if (backward_[index] || after_backward_[index] || one_sided(index)) continue;
    for (const RunInput& input : run(index).inputs) {
      if (input.producer != kNoId || input.from == InputEdge::From::kConstant || input.tensor == kNoId) continue;
      const auto one = error(input.tensor);
      if (one && !one->discrete) errors[{place(index).rank, place(index).dump}].push_back(one->relative);
    }
  }
  for (auto& [rank, found] : errors) first_steps_.at(rank).error = quantile_of_unsorted(found, 0.75);
}

ExecutionId RunFacts::in_step_before(ExecutionId index) const {
  const RunPlace& now = place(index);
  const std::span<const ExecutionId> same = runs_of_name(index);
  for (auto other = std::lower_bound(same.begin(), same.end(), index); other != same.begin();) {
    const RunPlace& before = place(*--other);
    if (before.rank != now.rank || before.dump != now.dump) break;
    if (before.step < now.step && before.occurrence == now.occurrence) return *other;
  }
  return {};
}

// True for a gradient, as what comes after the backward pass reads it, and for other values of unknown source.
bool RunFacts::enters_update(const RunInput& input) const {
  return input.tensor != kNoId && (input.producer == kNoId || backward_[input.producer]);
}

double RunFacts::rms_of(TensorId tensor) const {
  const auto one = error(tensor);
  return one && !one->discrete && std::isfinite(one->rms) ? one->rms : 0;
}

// The gradient of a bias before a normalisation is such a sum: it is zero.
void RunFacts::find_cancelled(ExecutionId index) {
  std::vector<TensorId> tensors;
  double largest = largest_scale_beside(index);
  if (backward_[index]) tensors = run(index).outputs;
  for (const RunInput& input : run(index).inputs) {
    if (input.tensor == kNoId || !(backward_[index] || enters_update(input))) continue;
    tensors.push_back(input.tensor);
    if (input.produced != kNoId) largest = std::max(largest, rms_of(input.produced));
  }
  for (const TensorId tensor : tensors) largest = std::max(largest, rms_of(tensor));
  for (const TensorId tensor : tensors) measure_by_terms(tensor, largest);
}

double RunFacts::largest_scale_beside(ExecutionId index) const {
  const auto found = scales_.find({place(index).in_step(), op(index).type});
  return found == scales_.end() ? 0 : found->second;
}

void RunFacts::find_names() {
  names_ = HashSlots(runs().size());
  name_numbers_.reserve(runs().size());
  for (ExecutionId index{0}; index < runs().size(); ++index) {
    const std::string_view text = name(index);
    const uint32_t found = names_.find_or_add(text_hash(text), static_cast<uint32_t>(named_.size()),
                                              [&](uint32_t other) { return name(named_[other].front()) == text; });
    if (found == named_.size()) named_.emplace_back();
    named_[found].push_back(index);
    name_numbers_.push_back(found);
  }
}

const SequencedOp& RunFacts::op(ExecutionId index) const {
  const OpPair& both = pair(index);
  return both.b != kNoId ? pairing().b[both.b] : pairing().a[both.a];
}

bool RunFacts::one_sided(ExecutionId index) const { return pair(index).a == kNoId || pair(index).b == kNoId; }

bool RunFacts::is_gradient(ExecutionId index) const {
  const std::string_view full = name(index);
  return full.starts_with("Gradients/") || full.starts_with("Gradients_") || is_backward(index);
}

std::span<const ExecutionId> RunFacts::runs_named(std::string_view name, const RunPlace& place) const {
  const uint32_t found =
      names_.find(text_hash(name), [&](uint32_t other) { return this->name(named_[other].front()) == name; });
  if (found == HashSlots::kNone) return {};
  const auto key = [](const RunPlace& of) { return of.in_step(); };
  const auto [begin, end] = std::equal_range(
      named_[found].begin(), named_[found].end(), ExecutionId(), [&](ExecutionId left, ExecutionId right) {
        return key(left == kNoId ? place : this->place(left)) < key(right == kNoId ? place : this->place(right));
      });
  return {begin, end};
}

// Operators that only the candidate has may have the names of others in the reference.
std::vector<ExecutionId> RunFacts::runs_beside(ExecutionId index, const std::optional<std::string>& name) const {
  std::vector<ExecutionId> runs;
  if (!name) return runs;
  for (const ExecutionId run : runs_named(*name, place(index))) {
    if (place(run) == place(index) && of_candidate_only(run) == of_candidate_only(index)) runs.push_back(run);
  }
  return runs;
}

std::vector<ExecutionId> RunFacts::backward_calls_of(ExecutionId index) const {
  return runs_beside(index, backward_entry_of(name(index)));
}

std::vector<ExecutionId> RunFacts::forward_calls_of(ExecutionId index) const {
  return runs_beside(index, forward_entry_of(name(index)));
}

std::vector<ExecutionId> RunFacts::summands_of(ExecutionId index) const {
  return runs_beside(index, summand_entry_of(name(index)));
}

ExecutionId RunFacts::lacking(ExecutionId index) const {
  if (!is_sharded() || one_sided(index)) return kNoId;
  const auto lacks = [&](ExecutionId one) {
    const std::vector<RunInput>& inputs = run(one).inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.tensor != kNoId && !is_of_candidate(input.tensor) && alone(input.tensor) == Alone::kUnknown;
    });
  };
  if (lacks(index)) return index;
  if (!is_communication(op(index).type)) return kNoId;
  for (const RunInput& input : run(index).inputs) {
    const ExecutionId maker = input.producer;
    if (maker != kNoId && !one_sided(maker) && lacks(maker)) return maker;
  }
  return kNoId;
}

const BrokenExchange* RunFacts::broken(ExecutionId index) const {
  if (placements() == nullptr || placements()->broken.empty()) return nullptr;
  for (const TensorId output : run(index).outputs) {
    const auto found = placements()->broken.find(output);
    if (found != placements()->broken.end()) return &found->second;
  }
  return nullptr;
}

double RunFacts::expected_rounding(ExecutionId index) const {
  double largest = 0;
  const auto see = [&](TensorId tensor) {
    if (tensor != kNoId) largest = std::max(largest, unit_roundoff(expected_dtype(tensor)));
  };
  for (const RunInput& input : run(index).inputs) see(input.tensor);
  for (const TensorId tensor : run(index).outputs) see(tensor);
  return largest;
}

}  // namespace msdump
