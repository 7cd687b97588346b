#include "divergence/runs/run_facts.h"

#include <algorithm>
#include <tuple>

#include "compare/pair/precision.h"
#include "graph/flow/communication.h"
#include "graph/lines/source_lines.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

const SourceFrame* frame_of(const CompareSide& side, const std::vector<SequencedOp>& operators, uint32_t op) {
  const bool in_graph = op != kNoOperator && operators[op].op != kNoIndex;
  return in_graph && side.graph != nullptr ? best_frame(*side.graph, operators[op].op) : nullptr;
}

}  // namespace

std::optional<SourceLine> line_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing, uint32_t op) {
  const OpPair& pair = pairing.operators[op];
  const SourceFrame* found = frame_of(b, pairing.b, pair.b);
  if (found == nullptr) found = frame_of(a, pairing.a, pair.a);
  return found == nullptr ? std::nullopt : std::optional(SourceLine{found->file, found->line});
}

RunFacts::RunFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                   const std::vector<TensorDiff>& diffs, const CutEvidence* cuts)
    : TensorFacts(a, b, pairing, diffs, cuts),
      graph_(paired_runs(a, b, pairing, diffs, cuts)),
      expected_(alone_for_known_reason(pairing)) {
  for (const OpRun& run : runs()) first_steps_.try_emplace(run.place.rank, run.place.step);
  find_names();
}

void RunFacts::find_names() {
  names_ = HashSlots(runs().size());
  name_numbers_.reserve(runs().size());
  for (uint32_t index = 0; index < runs().size(); ++index) {
    const std::string& text = name(index);
    const uint32_t found = names_.find_or_add(text_hash(text), static_cast<uint32_t>(named_.size()),
                                              [&](uint32_t other) { return name(named_[other].front()) == text; });
    if (found == named_.size()) named_.emplace_back();
    named_[found].push_back(index);
    name_numbers_.push_back(found);
  }
}

const SequencedOp& RunFacts::op(uint32_t index) const {
  const OpPair& both = pair(index);
  return both.b != kNoOperator ? pairing().b[both.b] : pairing().a[both.a];
}

bool RunFacts::one_sided(uint32_t index) const { return pair(index).a == kNoOperator || pair(index).b == kNoOperator; }

bool RunFacts::is_backward(uint32_t index) const { return forward_entry_of(name(index)).has_value(); }

bool RunFacts::is_gradient(uint32_t index) const {
  const std::string_view full = name(index);
  return full.starts_with("Gradients/") || full.starts_with("Gradients_") || is_backward(index);
}

std::span<const uint32_t> RunFacts::runs_named(std::string_view name, const RunPlace& place) const {
  const uint32_t found =
      names_.find(text_hash(name), [&](uint32_t other) { return this->name(named_[other].front()) == name; });
  if (found == HashSlots::kNone) return {};
  const auto key = [](const RunPlace& of) { return std::tie(of.rank, of.step); };
  const auto [begin, end] =
      std::equal_range(named_[found].begin(), named_[found].end(), kNoRun, [&](uint32_t left, uint32_t right) {
        return key(left == kNoRun ? place : this->place(left)) < key(right == kNoRun ? place : this->place(right));
      });
  return {begin, end};
}

std::vector<uint32_t> RunFacts::runs_at(const std::optional<std::string>& name, const RunPlace& place) const {
  std::vector<uint32_t> runs;
  if (!name) return runs;
  for (const uint32_t run : runs_named(*name, place)) {
    if (this->place(run) == place) runs.push_back(run);
  }
  return runs;
}

std::vector<uint32_t> RunFacts::backward_calls_of(uint32_t index) const {
  return runs_at(backward_entry_of(name(index)), place(index));
}

std::vector<uint32_t> RunFacts::forward_calls_of(uint32_t index) const {
  return runs_at(forward_entry_of(name(index)), place(index));
}

uint32_t RunFacts::lacking(uint32_t index) const {
  if (!of_cuts() || one_sided(index)) return kNoRun;
  const auto lacks = [&](uint32_t one) {
    const std::vector<RunInput>& inputs = run(one).inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
      return input.tensor != kNoTensor && !is_of_candidate(input.tensor) && alone(input.tensor) == Alone::kUnknown;
    });
  };
  if (lacks(index)) return index;
  if (!is_communication(op(index).type)) return kNoRun;
  for (const RunInput& input : run(index).inputs) {
    const uint32_t maker = input.made_by;
    if (maker != kNoRun && !one_sided(maker) && lacks(maker)) return maker;
  }
  return kNoRun;
}

const BrokenExchange* RunFacts::broken(uint32_t index) const {
  if (cuts() == nullptr || cuts()->broken.empty()) return nullptr;
  for (const uint32_t output : run(index).outputs) {
    const auto found = cuts()->broken.find(output);
    if (found != cuts()->broken.end()) return &found->second;
  }
  return nullptr;
}

double RunFacts::expected_rounding(uint32_t index) const {
  double largest = 0;
  const auto see = [&](uint32_t tensor) {
    if (tensor != kNoTensor) largest = std::max(largest, unit_roundoff(expected_dtype(tensor)));
  };
  for (const RunInput& input : run(index).inputs) see(input.tensor);
  for (const uint32_t tensor : run(index).outputs) see(tensor);
  return largest;
}

std::optional<uint64_t> RunFacts::time(uint32_t index) const {
  std::optional<uint64_t> first;
  const auto see = [&](uint32_t tensor) {
    if (tensor == kNoTensor) return;
    const TensorPair& both = pairing().tensors[tensor];
    const TensorRecord& record = both.b != kNoTensor ? (*b().tensors)[both.b] : (*a().tensors)[both.a];
    const auto time = time_of(record.name);
    if (time && (!first || *time < *first)) first = time;
  };
  for (const RunInput& input : run(index).inputs) see(input.tensor);
  for (const uint32_t output : run(index).outputs) see(output);
  return first;
}

}  // namespace msdump
