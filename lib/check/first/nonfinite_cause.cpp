#include "check/first/nonfinite_cause.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "check/values/value_rules.h"

namespace msdump::check {
namespace {

using Kind = FirstNonfinite::Kind;
using From = InputEdge::From;

Kind kind_of(const TensorFacts& facts) { return facts.has_nan ? Kind::kNan : Kind::kInf; }

// Only copies agree in all of these; unknown numbers never agree.
bool same_numbers(const TensorFacts& a, const TensorFacts& b) {
  return a.max && a.elements == b.elements && a.rank == b.rank && a.nan == b.nan && a.positive_inf == b.positive_inf &&
         a.min == b.min && a.max == b.max && a.l2norm == b.l2norm;
}

}  // namespace

bool CauseFinder::is_empty(uint32_t tensor) const {
  const Shape* const shape = dump_.record(tensor).shape;
  return facts_[tensor].elements == 0U ||
         (shape != nullptr && std::find(shape->begin(), shape->end(), 0) != shape->end());
}

std::vector<uint32_t> CauseFinder::judged_of(uint32_t run) const {
  std::vector<uint32_t> tensors;
  for (const uint32_t output : dump_.runs()[run].outputs) {
    if (!is_lost(output)) tensors.push_back(output);
  }
  const std::vector<uint32_t> others = dump_.stand_ins(run, [&](uint32_t output) { return is_lost(output); });
  const bool all_there = !tensors.empty() && tensors.size() == dump_.runs()[run].outputs.size();
  if (!all_there) tensors.insert(tensors.end(), others.begin(), others.end());
  return tensors.empty() && !dump_.has_flow() ? health_.inputs_of(run) : tensors;
}

Result<bool> CauseFinder::is_bad(uint32_t run) {
  MSDUMP_CHECK_OK(facts_.read(dump_.runs()[run].outputs, context_));
  const std::vector<uint32_t> judged = judged_of(run);
  MSDUMP_CHECK_OK(facts_.read(judged, context_));
  if (std::any_of(judged.begin(), judged.end(), [&](uint32_t tensor) { return health_.needs_inputs(tensor); }))
    MSDUMP_CHECK_OK(facts_.read(health_.inputs_of(run), context_));
  return std::any_of(judged.begin(), judged.end(),
                     [&](uint32_t tensor) { return health_.of_made(tensor, run) == Health::kBad; });
}

bool CauseFinder::is_bad_input(const RunInput& input) const {
  const uint32_t tensor = tensor_of(input);
  if (tensor == kNone) return false;
  const TensorFacts& facts = facts_[tensor];
  return facts.has_nan || facts.has_positive_inf ||
         (facts.has_negative_inf && input.is_weight && !is_two_valued(facts));
}

const RunInput* CauseFinder::bad_input(uint32_t run) const {
  const std::vector<RunInput>& inputs = dump_.runs()[run].inputs;
  const auto bad = std::find_if(inputs.begin(), inputs.end(), [&](const RunInput& one) { return is_bad_input(one); });
  return bad == inputs.end() ? nullptr : &*bad;
}

// Masks are made inside a network: an infinity that the script passes in is not a mask.
const RunInput* CauseFinder::infinite_input(uint32_t run) const {
  for (const RunInput& input : dump_.runs()[run].inputs) {
    const uint32_t tensor = tensor_of(input);
    if (tensor == kNone || input.from != From::kParameter || input.is_weight) continue;
    if (facts_[tensor].has_negative_inf && !is_two_valued(facts_[tensor])) return &input;
  }
  return nullptr;
}

Result<bool> CauseFinder::has_good_inputs(uint32_t run) {
  const std::vector<uint32_t> inputs = health_.inputs_of(run);
  MSDUMP_CHECK_OK(facts_.read(inputs, context_));
  const bool known = std::all_of(inputs.begin(), inputs.end(),
                                 [&](uint32_t tensor) { return facts_[tensor].known() || is_empty(tensor); });
  return !inputs.empty() && known && bad_input(run) == nullptr;
}

Result<Cause> CauseFinder::explain(uint32_t run) {
  for (std::set<uint32_t> seen; seen.insert(run).second;) {
    MSDUMP_CHECK_OK(facts_.read(health_.inputs_of(run), context_));
    const RunInput* const bad = bad_input(run);
    if (bad == nullptr) {
      const RunInput* const outside = infinite_input(run);
      if (outside == nullptr) return Cause{root(run), true};
      MSDUMP_TRY(FirstNonfinite found, entered(run, *outside));
      return Cause{std::move(found), true};
    }
    // In a loop the producer may come later in the order of runs.
    if (bad->made_by != kNone && asked_[bad->made_by]) {
      MSDUMP_TRY(const bool also_bad, is_bad(bad->made_by));
      if (also_bad) {
        run = bad->made_by;
        continue;
      }
    }
    const bool contradicts =
        bad->made_by != kNone && asked_[bad->made_by] && bad->made_as != kNone && facts_[bad->made_as].known();
    const bool ordered = dump_.has_flow() || dump_.runs()[run].ordered;
    MSDUMP_TRY(FirstNonfinite found, entered(run, *bad));
    return Cause{std::move(found), !contradicts && ordered};
  }
  FirstNonfinite found = root(run);
  found.reason = "its inputs are not finite already, and what made them reads its output";
  return Cause{std::move(found), false};
}

FirstNonfinite CauseFinder::start(uint32_t run) const {
  FirstNonfinite found;
  found.run = run;
  found.op = dump_.runs()[run].op;
  found.inputs = health_.inputs_of(run);
  found.outputs = dump_.runs()[run].outputs;
  const auto all = [&](const auto& holds) {
    return std::all_of(found.inputs.begin(), found.inputs.end(),
                       [&](uint32_t tensor) { return is_empty(tensor) || holds(facts_[tensor]); });
  };
  const std::vector<RunInput>& inputs = dump_.runs()[run].inputs;
  const bool lacks = std::any_of(inputs.begin(), inputs.end(), [](const RunInput& input) {
    return tensor_of(input) == kNone && (input.from == From::kOperator || input.from == From::kParameter);
  });
  if (!all([](const TensorFacts& facts) { return !facts.known() || facts.is_finite(); })) {
    found.inputs_finite = false;
  } else if (!lacks && !found.inputs.empty() && all([](const TensorFacts& facts) { return facts.known(); })) {
    found.inputs_finite = true;
  }
  return found;
}

FirstNonfinite CauseFinder::root(uint32_t run) const {
  FirstNonfinite found = start(run);
  const std::vector<uint32_t> judged = judged_of(run);
  const auto bad = std::find_if(judged.begin(), judged.end(),
                                [&](uint32_t tensor) { return health_.of_made(tensor, run) == Health::kBad; });
  found.tensor = bad != judged.end() ? *bad : judged.empty() ? found.inputs.front() : judged.front();
  found.kind = kind_of(facts_[found.tensor]);
  std::string shown;
  if (const uint32_t reader = dump_.run_of(found.tensor); reader != run && reader != kNone) {
    shown = fmt::format(", as {} of {} shows", slot_text(dump_.record(found.tensor)),
                        dump_.operators()[dump_.runs()[reader].op].name);
  }
  const auto empty =
      std::find_if(found.inputs.begin(), found.inputs.end(), [&](uint32_t input) { return is_empty(input); });
  if (found.inputs_finite == true && empty != found.inputs.end()) {
    found.reason =
        fmt::format("its {} has no element, its output is not finite{}", slot_text(dump_.record(*empty)), shown);
  } else if (found.inputs_finite == true) {
    found.reason = "its inputs are finite, its output is not" + shown;
  } else if (found.inputs.empty()) {
    found.reason = "its output is not finite" + shown + "; its inputs were not dumped";
  } else if (found.inputs_finite == false && health_.has_more_than_its_terms(found.tensor, run)) {
    found.reason = "its inputs have the -inf of a mask, its output has more" + shown;
  } else if (found.inputs_finite == false) {
    found.reason = "its inputs have no NaN and no +inf, only the -inf of a mask; its output is not finite" + shown;
  } else {
    found.reason = "its output is not finite" + shown + "; not all of its inputs are there, the others are finite";
  }
  return found;
}

Result<FirstNonfinite> CauseFinder::entered(uint32_t run, const RunInput& bad) {
  FirstNonfinite found = start(run);
  found.tensor = tensor_of(bad);
  found.parameter = bad.parameter;
  const TensorRecord& record = dump_.record(found.tensor);
  // The record of an input that was not dumped itself is its producer's output.
  const std::string input = bad.tensor != kNone ? slot_text(record) : fmt::format("input {}", bad.slot);
  uint32_t parameter =
      dump_.role(found.tensor) == TensorRole::kInput && record.name.io == Io::kParameter ? found.tensor : kNone;
  if (parameter == kNone && !dump_.has_flow()) {
    MSDUMP_TRY(parameter, module_parameter_like(found.tensor));
  }
  if (parameter != kNone) found.parameter = dump_.record(parameter).name.slot;
  if (bad.is_weight || parameter != kNone) {
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
  } else if (bad.made_by != kNone && !asked_[bad.made_by]) {
    found.kind = kind_of(facts_[found.tensor]);
    found.reason = fmt::format("its {} is not finite already; {}, which made it, was not asked for", input,
                               dump_.operators()[dump_.runs()[bad.made_by].op].name);
  } else if (bad.from == From::kOperator && bad.made_as == kNone) {
    found.kind = kind_of(facts_[found.tensor]);
    found.reason = fmt::format("its {} is not finite already; what made it was not dumped", input);
  } else if (bad.from == From::kOperator) {
    found.kind = Kind::kInput;
    found.reason = fmt::format("its {} is not finite, although it was when {} wrote it", input,
                               dump_.operators()[dump_.runs()[bad.made_by].op].name);
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

// An earlier run that was not judged and may have made the input of this one; empty if there is none. Without a data
// flow any earlier run may have.
std::string CauseFinder::hidden_before(uint32_t run) const {
  const OpRun& of = dump_.runs()[run];
  for (uint32_t before = run; before-- > 0;) {
    const OpRun& other = dump_.runs()[before];
    if (other.place.step != of.place.step || other.place.rank != of.place.rank) continue;
    const std::string& name = dump_.operators()[other.op].name;
    const std::vector<uint32_t>& outputs = other.outputs;
    if (!asked_[before]) return fmt::format("{} before it was not asked for", name);
    if (std::any_of(outputs.begin(), outputs.end(), [&](uint32_t one) { return is_lost(one) && !is_empty(one); }))
      return fmt::format("what {} before it wrote cannot be read", name);
  }
  return {};
}

// msprobe records the parameters of a module with its own call, after those inside it that read them.
Result<uint32_t> CauseFinder::module_parameter_like(uint32_t tensor) {
  const TensorRecord& record = dump_.record(tensor);
  const Identity place = identity_of(dump_.index(), record);
  std::vector<uint32_t> candidates;
  for (uint32_t other = 0; other < dump_.tensors(); ++other) {
    if (dump_.record(other).name.io != Io::kParameter || dump_.role(other) != TensorRole::kInput) continue;
    const Identity identity = dump_.identity(other);
    if (identity.rank == place.rank && identity.step == place.step) candidates.push_back(other);
  }
  MSDUMP_CHECK_OK(facts_.read(candidates, context_));
  for (const uint32_t other : candidates) {
    if (!facts_[other].is_finite() && same_numbers(facts_[other], facts_[tensor])) return other;
  }
  return kNone;
}

}  // namespace msdump::check
