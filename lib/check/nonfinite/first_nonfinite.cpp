#include "check/nonfinite/first_nonfinite.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/error.h"
#include "check/checked_dump.h"
#include "check/nonfinite/nonfinite.h"
#include "check/ranks/collective_call.h"
#include "check/ranks/rank_values.h"
#include "check/values/tensor_facts.h"
#include "check/values/value_rules.h"
#include "graph/flow/communication.h"
#include "io/run_context.h"

namespace msdump::check {
namespace {

// Follows NaN and infinities between ranks: from the rank that sent one to a collective, to the ranks that received it.
class NonfiniteSpread {
 public:
  // All arguments must outlive it. The calls are collected on first use.
  NonfiniteSpread(const CheckedDump& dump, FactsReader& facts, const RunContext& context)
      : dump_(dump), facts_(facts), context_(context) {}

  // The execution of the same collective on the first rank of the group that sent a non-finite value; kNoId: none is
  // known.
  Result<ExecutionId> source_of(ExecutionId run);
  // The first collective after an execution, of the same rank and step, that had such an input:
  // "Distributed.all_reduce.0.forward passes it on to ranks 0, 2". Empty: none.
  Result<std::string> passed_on(ExecutionId run);

 private:
  const JoinedCalls& joined();
  [[nodiscard]] ExecutionId run_of(const CollectiveCall& call) const;
  Result<bool> puts_nonfinite(const CollectiveCall& call);

  const CheckedDump& dump_;
  FactsReader& facts_;
  const RunContext& context_;
  std::optional<JoinedCalls> joined_;
};

const JoinedCalls& NonfiniteSpread::joined() {
  if (!joined_) joined_.emplace(dump_);
  return *joined_;
}

ExecutionId NonfiniteSpread::run_of(const CollectiveCall& call) const {
  for (const std::vector<TensorId>* const tensors : {&call.sent, &call.received}) {
    for (const TensorId tensor : *tensors) {
      if (dump_.run_of(tensor) != kNoId) return dump_.run_of(tensor);
    }
  }
  return kNoId;
}

Result<bool> NonfiniteSpread::puts_nonfinite(const CollectiveCall& call) {
  MSDUMP_CHECK_OK(facts_.read(call.sent, context_));
  return std::any_of(call.sent.begin(), call.sent.end(),
                     [&](TensorId tensor) { return facts_[tensor].known() && !facts_[tensor].is_finite(); });
}

Result<ExecutionId> NonfiniteSpread::source_of(ExecutionId run) {
  const auto& [calls, exchanges] = joined();
  for (const Exchange& exchange : exchanges) {
    const bool here = std::any_of(exchange.members.begin(), exchange.members.end(),
                                  [&calls = calls, run, this](size_t member) { return run_of(calls[member]) == run; });
    if (!here) continue;
    for (const size_t member : exchange.members) {
      MSDUMP_TRY(const bool bad, puts_nonfinite(calls[member]));
      if (bad) return run_of(calls[member]);
    }
    return kNoId;
  }
  return kNoId;
}

Result<std::string> NonfiniteSpread::passed_on(ExecutionId run) {
  const auto& [calls, exchanges] = joined();
  const RunPlace& place = dump_.runs()[run].place;
  const Exchange* first = nullptr;
  ExecutionId first_run;
  for (const Exchange& exchange : exchanges) {
    for (const size_t member : exchange.members) {
      const CollectiveCall& call = calls[member];
      const ExecutionId at = run_of(call);
      const bool later = at != kNoId && at > run && at < first_run;
      if (!later || place.rank != call.rank || place.step != call.step) continue;
      MSDUMP_TRY(const bool bad, puts_nonfinite(call));
      if (!bad) continue;
      first = &exchange;
      first_run = at;
    }
  }
  if (first == nullptr) return std::string();
  std::vector<int64_t> others = first->ranks;
  std::erase(others, place.rank.value_or(-1));
  return fmt::format("{} passes it on to {}", dump_.operators()[dump_.runs()[first_run].op].name,
                     ranks_text(std::move(others)));
}

using Kind = FirstNonfinite::Kind;
using Found = std::optional<FirstNonfinite>;

// Size of a batch of reads: enough tensors to keep the kernels busy, and few that are read needlessly.
constexpr size_t kBatchTensors = 128;
constexpr uint64_t kBatchBytes = uint64_t{64} << 20;

std::vector<bool> asked_runs(const CheckedDump& dump, const std::vector<bool>& chosen) {
  std::vector<bool> asked(dump.runs().size(), false);
  for (TensorId tensor{0}; tensor < chosen.size(); ++tensor) {
    if (chosen[tensor] && dump.run_of(tensor) != kNoId) asked[dump.run_of(tensor)] = true;
  }
  return asked;
}

class Search {
 public:
  Search(const CheckedDump& dump, const std::vector<bool>& chosen, FactsReader& facts, const RunContext& context)
      : dump_(dump),
        facts_(facts),
        context_(context),
        asked_(asked_runs(dump, chosen)),
        causes_(dump, facts, context, asked_),
        classifier_(dump, facts),
        spread_(dump, facts, context) {
    for (ExecutionId run{0}; run < dump_.runs().size(); ++run) {
      Step& step = steps_[known_first(dump_.runs()[run].place.step)];
      if (step.begin == step.end) step.begin = run;
      step.end = ExecutionId(run + 1);
    }
    for (TensorId tensor{0}; tensor < dump_.tensors(); ++tensor) {
      if (!chosen[tensor] || dump_.role(tensor) != TensorRole::kParameter || dump_.op_of(tensor) == kNoId) continue;
      steps_[known_first(dump_.identity(tensor).step)].parameters.push_back(tensor);
    }
  }

  Result<Found> run() {
    for (const auto& [number, step] : steps_) {
      MSDUMP_TRY(Found found, search_step(step.begin, step.end));
      if (found) return found;
      MSDUMP_TRY(found, search_inputs(step.begin, step.end));
      if (found) return found;
      MSDUMP_TRY(found, search_parameters(step.parameters));
      if (found) return found;
    }
    return Found();
  }

 private:
  struct Step {
    ExecutionId begin{0}, end{0};      // rank by rank
    std::vector<TensorId> parameters;  // files of their values at the end of the step
  };

  Result<Found> search_step(ExecutionId begin, ExecutionId end) {
    Found best;
    uint32_t best_place = 0;  // in its rank
    while (begin < end) {
      ExecutionId stop = begin;
      while (stop < end && dump_.runs()[stop].place.rank == dump_.runs()[begin].place.rank) ++stop;
      const ExecutionId last = best && guess_of(*best) == 0 ? std::min(stop, ExecutionId(begin + best_place)) : stop;
      MSDUMP_TRY(Found found, search_runs(begin, last));
      if (found &&
          (!best || std::pair(guess_of(*found), found->run - begin) < std::pair(guess_of(*best), best_place))) {
        best_place = found->run - begin;
        best = std::move(found);
      }
      begin = stop;
    }
    if (best) MSDUMP_CHECK_OK(follow_over_ranks(*best));
    return best;
  }

  // Follows a cause to the rank that sent the value, and lists the ranks that received it.
  Status follow_over_ranks(FirstNonfinite& found) {
    if (guess_of(found) == 2) {
      MSDUMP_TRY(const ExecutionId source, spread_.source_of(found.run));
      if (source != kNoId && source != found.run && asked_[source]) {
        MSDUMP_TRY(Cause cause, causes_.explain(source));
        found = std::move(cause.found);
      }
    }
    MSDUMP_TRY(const std::string passed_on, spread_.passed_on(found.run));
    if (!passed_on.empty()) found.reason += "; " + passed_on;
    return {};
  }

  // A value that may have come from another rank is named after one that did not.
  [[nodiscard]] int guess_of(const FirstNonfinite& found) const {
    if (is_communication(dump_.operators()[found.op].type)) return 2;
    return found.kind == Kind::kInput && found.parameter.empty() ? 1 : 0;
  }

  // The first cause on a rank. If it is uncertain, a later execution with finite inputs and a bad output goes first.
  Result<Found> search_runs(ExecutionId begin, ExecutionId end) {
    Found uncertain;
    while (begin < end) {
      MSDUMP_TRY(const ExecutionId stop, read_outputs(begin, end));
      for (ExecutionId run = begin; run < stop; ++run) {
        if (!asked_[run]) continue;
        MSDUMP_TRY(const bool bad, causes_.is_bad(run));
        if (!bad) continue;
        if (uncertain) {
          MSDUMP_TRY(const bool good_inputs, causes_.has_good_inputs(run));
          if (!good_inputs) continue;
        }
        MSDUMP_TRY(Cause cause, causes_.explain(run));
        if (cause.certain) return Found(std::move(cause.found));
        if (!uncertain) uncertain = std::move(cause.found);
      }
      begin = stop;
    }
    return uncertain;
  }

  // Reads the outputs of one batch of executions; returns its end.
  Result<ExecutionId> read_outputs(ExecutionId begin, ExecutionId end) {
    std::vector<TensorId> batch;
    uint64_t bytes = 0;
    ExecutionId stop = begin;
    for (; stop < end && batch.size() < kBatchTensors && bytes < kBatchBytes; ++stop) {
      if (!asked_[stop]) continue;
      for (const TensorId tensor : causes_.judged_of(stop)) {
        batch.push_back(tensor);
        bytes += dump_.record(tensor).bytes.value_or(0);
      }
    }
    MSDUMP_CHECK_OK(facts_.read(batch, context_));
    return stop;
  }

  // Searches the inputs of a step whose outputs are all finite.
  Result<Found> search_inputs(ExecutionId begin, ExecutionId end) {
    for (ExecutionId from = begin; from < end;) {
      std::vector<TensorId> batch;
      ExecutionId stop = from;
      for (; stop < end && batch.size() < kBatchTensors; ++stop) {
        if (!asked_[stop]) continue;
        for (const RunInput& input : dump_.runs()[stop].inputs) {
          if (tensor_of(input) != kNoId) batch.push_back(tensor_of(input));
        }
      }
      MSDUMP_CHECK_OK(facts_.read(batch, context_));
      for (; from < stop; ++from) {
        const RunInput* const bad = asked_[from] ? causes_.bad_input(from) : nullptr;
        if (bad == nullptr || classifier_.is_absorbed(tensor_of(*bad))) continue;
        MSDUMP_TRY(FirstNonfinite found, causes_.entered(from, *bad));
        return Found(std::move(found));
      }
    }
    return Found();
  }

  Result<Found> search_parameters(const std::vector<TensorId>& parameters) {
    MSDUMP_CHECK_OK(facts_.read(parameters, context_));
    for (const TensorId tensor : parameters) {
      const TensorFacts& facts = facts_[tensor];
      const bool mask = !facts.has_nan && !facts.has_positive_inf && is_two_valued(facts);
      if (!facts.known() || facts.is_finite() || mask || classifier_.is_absorbed(tensor)) continue;
      FirstNonfinite found;
      found.parameter = dump_.record(tensor).name.op_name;
      found.kind = dump_.is_kept_name(found.parameter) ? Kind::kParameter : Kind::kInput;
      found.op = dump_.op_of(tensor);
      found.tensor = tensor;
      found.reason =
          dump_.runs().empty()
              ? "the parameter is not finite; no operator was dumped"
              : "it is not finite when the step is over; no operator that was dumped shows how it came to it";
      return Found(std::move(found));
    }
    return Found();
  }

  const CheckedDump& dump_;
  FactsReader& facts_;
  const RunContext& context_;
  const std::vector<bool> asked_;  // by run
  CauseFinder causes_;
  const NonFiniteClassifier classifier_;
  NonfiniteSpread spread_;
  std::map<std::pair<bool, int64_t>, Step> steps_;  // in the order of time
};

}  // namespace

std::string_view name_of(FirstNonfinite::Kind kind) {
  static constexpr auto kNames =
      enum_table<FirstNonfinite::Kind, std::string_view>("nan", "inf", "overflow", "input", "parameter");
  return kNames[kind];
}

Result<std::optional<FirstNonfinite>> find_first_nonfinite(const CheckedDump& dump, const std::vector<bool>& chosen,
                                                           FactsReader& facts, const RunContext& context) {
  return Search(dump, chosen, facts, context).run();
}

namespace {

using Kind = FirstNonfinite::Kind;
using From = InputEdge::From;

Kind kind_of(const TensorFacts& facts) { return facts.has_nan ? Kind::kNan : Kind::kInf; }

// True for copies: only they agree in all of these numbers. Unknown numbers never agree.
bool same_numbers(const TensorFacts& a, const TensorFacts& b) {
  return a.max && a.elements == b.elements && a.rank == b.rank && a.nan == b.nan && a.positive_inf == b.positive_inf &&
         a.min == b.min && a.max == b.max && a.l2norm == b.l2norm;
}

}  // namespace

bool CauseFinder::is_empty(TensorId tensor) const {
  const Shape* const shape = dump_.record(tensor).shape;
  return facts_[tensor].elements == 0U ||
         (shape != nullptr && std::find(shape->begin(), shape->end(), 0) != shape->end());
}

std::vector<TensorId> CauseFinder::judged_of(ExecutionId run) const {
  std::vector<TensorId> tensors;
  for (const TensorId output : dump_.runs()[run].outputs) {
    if (!is_lost(output)) tensors.push_back(output);
  }
  const std::vector<TensorId> others = dump_.stand_ins(run, [&](TensorId output) { return is_lost(output); });
  const bool all_there = !tensors.empty() && tensors.size() == dump_.runs()[run].outputs.size();
  if (!all_there) tensors.insert(tensors.end(), others.begin(), others.end());
  return tensors.empty() && !dump_.has_flow() ? classifier_.inputs_of(run) : tensors;
}

Result<bool> CauseFinder::is_bad(ExecutionId run) {
  MSDUMP_CHECK_OK(facts_.read(dump_.runs()[run].outputs, context_));
  const std::vector<TensorId> judged = judged_of(run);
  MSDUMP_CHECK_OK(facts_.read(judged, context_));
  if (std::any_of(judged.begin(), judged.end(), [&](TensorId tensor) { return classifier_.needs_inputs(tensor); }))
    MSDUMP_CHECK_OK(facts_.read(classifier_.inputs_of(run), context_));
  return std::any_of(judged.begin(), judged.end(),
                     [&](TensorId tensor) { return classifier_.classify_output(tensor, run) == NonFinite::kFault; });
}

bool CauseFinder::is_bad_input(const RunInput& input) const {
  const TensorId tensor = tensor_of(input);
  if (tensor == kNoId) return false;
  const TensorFacts& facts = facts_[tensor];
  return facts.has_nan || facts.has_positive_inf ||
         (facts.has_negative_inf && input.is_weight && !is_two_valued(facts));
}

const RunInput* CauseFinder::bad_input(ExecutionId run) const {
  const std::vector<RunInput>& inputs = dump_.runs()[run].inputs;
  const auto bad = std::find_if(inputs.begin(), inputs.end(), [&](const RunInput& one) { return is_bad_input(one); });
  return bad == inputs.end() ? nullptr : &*bad;
}

// An infinity that the script passes in is no mask: masks are computed inside the network.
const RunInput* CauseFinder::infinite_input(ExecutionId run) const {
  for (const RunInput& input : dump_.runs()[run].inputs) {
    const TensorId tensor = tensor_of(input);
    if (tensor == kNoId || input.from != From::kParameter || input.is_weight) continue;
    if (facts_[tensor].has_negative_inf && !is_two_valued(facts_[tensor])) return &input;
  }
  return nullptr;
}

Result<bool> CauseFinder::has_good_inputs(ExecutionId run) {
  const std::vector<TensorId> inputs = classifier_.inputs_of(run);
  MSDUMP_CHECK_OK(facts_.read(inputs, context_));
  const bool known = std::all_of(inputs.begin(), inputs.end(),
                                 [&](TensorId tensor) { return facts_[tensor].known() || is_empty(tensor); });
  return !inputs.empty() && known && bad_input(run) == nullptr;
}

Result<Cause> CauseFinder::explain(ExecutionId run) {
  for (std::set<ExecutionId> seen; seen.insert(run).second;) {
    MSDUMP_CHECK_OK(facts_.read(classifier_.inputs_of(run), context_));
    const RunInput* const bad = bad_input(run);
    if (bad == nullptr) {
      const RunInput* const outside = infinite_input(run);
      if (outside == nullptr) return Cause{root(run), true};
      MSDUMP_TRY(FirstNonfinite found, entered(run, *outside));
      return Cause{std::move(found), true};
    }
    // In a loop the producer may come later in the order of runs.
    if (bad->producer != kNoId && asked_[bad->producer]) {
      MSDUMP_TRY(const bool also_bad, is_bad(bad->producer));
      if (also_bad) {
        run = bad->producer;
        continue;
      }
    }
    const bool contradicts =
        bad->producer != kNoId && asked_[bad->producer] && bad->produced != kNoId && facts_[bad->produced].known();
    const bool ordered = dump_.has_flow() || dump_.runs()[run].ordered;
    MSDUMP_TRY(FirstNonfinite found, entered(run, *bad));
    return Cause{std::move(found), !contradicts && ordered};
  }
  FirstNonfinite found = root(run);
  found.reason = "its inputs are not finite already, and what made them reads its output";
  return Cause{std::move(found), false};
}

FirstNonfinite CauseFinder::start(ExecutionId run) const {
  FirstNonfinite found;
  found.run = run;
  found.op = dump_.runs()[run].op;
  found.inputs = classifier_.inputs_of(run);
  found.outputs = dump_.runs()[run].outputs;
  const auto all = [&](const auto& holds) {
    return std::all_of(found.inputs.begin(), found.inputs.end(),
                       [&](TensorId tensor) { return is_empty(tensor) || holds(facts_[tensor]); });
  };
  const std::vector<RunInput>& inputs = dump_.runs()[run].inputs;
  const bool lacks = std::any_of(inputs.begin(), inputs.end(), [](const RunInput& input) {
    return tensor_of(input) == kNoId && (input.from == From::kOperator || input.from == From::kParameter);
  });
  if (!all([](const TensorFacts& facts) { return !facts.known() || facts.is_finite(); })) {
    found.inputs_finite = false;
  } else if (!lacks && !found.inputs.empty() && all([](const TensorFacts& facts) { return facts.known(); })) {
    found.inputs_finite = true;
  }
  return found;
}

FirstNonfinite CauseFinder::root(ExecutionId run) const {
  FirstNonfinite found = start(run);
  const std::vector<TensorId> judged = judged_of(run);
  const auto bad = std::find_if(judged.begin(), judged.end(), [&](TensorId tensor) {
    return classifier_.classify_output(tensor, run) == NonFinite::kFault;
  });
  found.tensor = bad != judged.end() ? *bad : judged.empty() ? found.inputs.front() : judged.front();
  found.kind = kind_of(facts_[found.tensor]);
  std::string shown;
  if (const ExecutionId reader = dump_.run_of(found.tensor); reader != run && reader != kNoId) {
    shown = fmt::format(", as {} of {} shows", slot_text(dump_.record(found.tensor)),
                        dump_.operators()[dump_.runs()[reader].op].name);
  }
  const auto empty =
      std::find_if(found.inputs.begin(), found.inputs.end(), [&](TensorId input) { return is_empty(input); });
  if (found.inputs_finite == true && empty != found.inputs.end()) {
    found.reason =
        fmt::format("its {} has no element, its output is not finite{}", slot_text(dump_.record(*empty)), shown);
  } else if (found.inputs_finite == true) {
    found.reason = "its inputs are finite, its output is not" + shown;
  } else if (found.inputs.empty()) {
    found.reason = "its output is not finite" + shown + "; its inputs were not dumped";
  } else if (found.inputs_finite == false && classifier_.adds_infinities(found.tensor, run)) {
    found.reason = "its inputs have the -inf of a mask, its output has more" + shown;
  } else if (found.inputs_finite == false) {
    found.reason = "its inputs have no NaN and no +inf, only the -inf of a mask; its output is not finite" + shown;
  } else {
    found.reason = "its output is not finite" + shown + "; not all of its inputs are there, the others are finite";
  }
  return found;
}

Result<FirstNonfinite> CauseFinder::entered(ExecutionId run, const RunInput& bad) {
  FirstNonfinite found = start(run);
  found.tensor = tensor_of(bad);
  found.parameter = bad.parameter;
  const TensorRecord& record = dump_.record(found.tensor);
  // An input that was not dumped has the record of its producer's output.
  const std::string input = bad.tensor != kNoId ? slot_text(record) : fmt::format("input {}", bad.slot);
  TensorId parameter =
      dump_.role(found.tensor) == TensorRole::kInput && record.name.io == Io::kParameter ? found.tensor : kNoId;
  if (parameter == kNoId && !dump_.has_flow()) {
    MSDUMP_TRY(parameter, module_parameter_like(found.tensor));
  }
  if (parameter != kNoId) found.parameter = dump_.record(parameter).name.slot;
  if (bad.is_weight || parameter != kNoId) {
    found.kind = Kind::kParameter;
    const std::string is_it =
        parameter == found.tensor ? "" : fmt::format(" is the parameter {}, which", found.parameter);
    found.reason = fmt::format("its {}{} is not finite before the operator runs", input, is_it);
  } else if (bad.from == From::kParameter) {
    found.kind = Kind::kInput;
    found.reason =
        dump_.role(found.tensor) == TensorRole::kParameter
            ? fmt::format("it reads the input {} of the graph, which is not finite already", found.parameter)
            : fmt::format("its {} is the input {} of the graph, which is not finite already", input, found.parameter);
  } else if (bad.producer != kNoId && !asked_[bad.producer]) {
    found.kind = kind_of(facts_[found.tensor]);
    found.reason = fmt::format("its {} is not finite already; {}, which made it, was not asked for", input,
                               dump_.operators()[dump_.runs()[bad.producer].op].name);
  } else if (bad.from == From::kOperator && bad.produced == kNoId) {
    found.kind = kind_of(facts_[found.tensor]);
    found.reason = fmt::format("its {} is not finite already; what made it was not dumped", input);
  } else if (bad.from == From::kOperator) {
    found.kind = Kind::kInput;
    found.reason = fmt::format("its {} is not finite, although it was when {} wrote it", input,
                               dump_.operators()[dump_.runs()[bad.producer].op].name);
  } else if (!dump_.runs()[run].ordered) {
    found.kind = Kind::kInput;
    found.reason = fmt::format("its {} is not finite already; the order of the operators is not known", input);
  } else if (const std::string hidden = hidden_before(run); !hidden.empty()) {
    found.kind = kind_of(facts_[found.tensor]);
    found.reason = fmt::format("its {} is not finite already; {}", input, hidden);
  } else {
    found.kind = Kind::kInput;
    found.reason = fmt::format("its {} is not finite already, and no operator before it made it", input);
  }
  return found;
}

// An earlier execution that was not judged and may have produced the input; empty if there is none. Without a data
// flow, any earlier execution may have.
std::string CauseFinder::hidden_before(ExecutionId run) const {
  const OpRun& of = dump_.runs()[run];
  for (ExecutionId before = run; before-- > 0;) {
    const OpRun& other = dump_.runs()[before];
    if (!other.place.is_beside(of.place)) continue;
    const std::string_view name = dump_.operators()[other.op].name;
    const std::vector<TensorId>& outputs = other.outputs;
    if (!asked_[before]) return fmt::format("{} before it was not asked for", name);
    if (std::any_of(outputs.begin(), outputs.end(), [&](TensorId one) { return is_lost(one) && !is_empty(one); }))
      return fmt::format("what {} before it wrote cannot be read", name);
  }
  return {};
}

// Finds the parameter with the same numbers. msprobe records the parameters of a module with its own call, after the
// calls inside it.
Result<TensorId> CauseFinder::module_parameter_like(TensorId tensor) {
  const TensorRecord& record = dump_.record(tensor);
  const Identity place = identity_of(dump_.index(), record);
  std::vector<TensorId> candidates;
  for (TensorId other{0}; other < dump_.tensors(); ++other) {
    if (dump_.record(other).name.io != Io::kParameter || dump_.role(other) != TensorRole::kInput) continue;
    const Identity identity = dump_.identity(other);
    if (identity.rank == place.rank && identity.step == place.step) candidates.push_back(other);
  }
  MSDUMP_CHECK_OK(facts_.read(candidates, context_));
  for (const TensorId other : candidates) {
    if (!facts_[other].is_finite() && same_numbers(facts_[other], facts_[tensor])) return other;
  }
  return kNoId;
}

}  // namespace msdump::check
