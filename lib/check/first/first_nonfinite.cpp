#include "check/first/first_nonfinite.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/enum_table.h"
#include "base/order.h"
#include "check/first/nonfinite_cause.h"
#include "check/ranks/nonfinite_spread.h"
#include "check/values/health.h"
#include "graph/flow/communication.h"

namespace msdump::check {
namespace {

using Kind = FirstNonfinite::Kind;
using Found = std::optional<FirstNonfinite>;

// Size of a batch of reads: enough tensors to keep the kernels busy, few that are read needlessly.
constexpr size_t kBatchTensors = 128;
constexpr uint64_t kBatchBytes = uint64_t{64} << 20;

std::vector<bool> asked_runs(const CheckedDump& dump, const std::vector<bool>& chosen) {
  std::vector<bool> asked(dump.runs().size(), false);
  for (uint32_t tensor = 0; tensor < chosen.size(); ++tensor) {
    if (chosen[tensor] && dump.run_of(tensor) != kNone) asked[dump.run_of(tensor)] = true;
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
        health_(dump, facts),
        spread_(dump, facts, context) {
    for (uint32_t run = 0; run < dump_.runs().size(); ++run) {
      Step& step = steps_[known_first(dump_.runs()[run].place.step)];
      if (step.begin == step.end) step.begin = run;
      step.end = run + 1;
    }
    for (uint32_t tensor = 0; tensor < dump_.tensors(); ++tensor) {
      if (!chosen[tensor] || dump_.role(tensor) != TensorRole::kParameter || dump_.op_of(tensor) == kNone) continue;
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
    uint32_t begin = 0, end = 0;       // runs, rank by rank
    std::vector<uint32_t> parameters;  // files of their values at the end of the step
  };

  Result<Found> search_step(uint32_t begin, uint32_t end) {
    Found best;
    uint32_t best_place = kNone;  // in its rank
    while (begin < end) {
      uint32_t stop = begin;
      while (stop < end && dump_.runs()[stop].place.rank == dump_.runs()[begin].place.rank) ++stop;
      const uint32_t last = best && guess_of(*best) == 0 ? std::min(stop, begin + best_place) : stop;
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

  // To the rank that put it into a collective, and on to those that got it from there.
  Status follow_over_ranks(FirstNonfinite& found) {
    if (guess_of(found) == 2) {
      MSDUMP_TRY(const uint32_t source, spread_.source_of(found.run));
      if (source != kNone && source != found.run && asked_[source]) {
        MSDUMP_TRY(Cause cause, causes_.explain(source));
        found = std::move(cause.found);
      }
    }
    MSDUMP_TRY(const std::string passed_on, spread_.passed_on(found.run));
    if (!passed_on.empty()) found.reason += "; " + passed_on;
    return {};
  }

  // A value that may have come from another rank ranks below one that did not.
  [[nodiscard]] int guess_of(const FirstNonfinite& found) const {
    if (is_communication(dump_.operators()[found.op].type)) return 2;
    return found.kind == Kind::kInput && found.parameter.empty() ? 1 : 0;
  }

  // The first of a rank; if it is uncertain, a later run with good inputs and a bad output.
  Result<Found> search_runs(uint32_t begin, uint32_t end) {
    Found uncertain;
    while (begin < end) {
      MSDUMP_TRY(const uint32_t stop, read_outputs(begin, end));
      for (uint32_t run = begin; run < stop; ++run) {
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

  // Reads those of one batch of runs; returns where it ends.
  Result<uint32_t> read_outputs(uint32_t begin, uint32_t end) {
    std::vector<uint32_t> batch;
    uint64_t bytes = 0;
    uint32_t stop = begin;
    for (; stop < end && batch.size() < kBatchTensors && bytes < kBatchBytes; ++stop) {
      if (!asked_[stop]) continue;
      for (const uint32_t tensor : causes_.judged_of(stop)) {
        batch.push_back(tensor);
        bytes += dump_.record(tensor).bytes.value_or(0);
      }
    }
    MSDUMP_CHECK_OK(facts_.read(batch, context_));
    return stop;
  }

  // Searches the inputs of a step with good outputs; they may still be bad.
  Result<Found> search_inputs(uint32_t begin, uint32_t end) {
    for (uint32_t from = begin; from < end;) {
      std::vector<uint32_t> batch;
      uint32_t stop = from;
      for (; stop < end && batch.size() < kBatchTensors; ++stop) {
        if (!asked_[stop]) continue;
        for (const RunInput& input : dump_.runs()[stop].inputs) {
          if (tensor_of(input) != kNone) batch.push_back(tensor_of(input));
        }
      }
      MSDUMP_CHECK_OK(facts_.read(batch, context_));
      for (; from < stop; ++from) {
        const RunInput* const bad = asked_[from] ? causes_.bad_input(from) : nullptr;
        if (bad == nullptr || health_.does_no_harm(tensor_of(*bad))) continue;
        MSDUMP_TRY(FirstNonfinite found, causes_.entered(from, *bad));
        return Found(std::move(found));
      }
    }
    return Found();
  }

  Result<Found> search_parameters(const std::vector<uint32_t>& parameters) {
    MSDUMP_CHECK_OK(facts_.read(parameters, context_));
    for (const uint32_t tensor : parameters) {
      const TensorFacts& facts = facts_[tensor];
      const bool mask = !facts.has_nan && !facts.has_positive_inf && is_two_valued(facts);
      if (!facts.known() || facts.is_finite() || mask || health_.does_no_harm(tensor)) continue;
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
  const HealthJudge health_;
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

}  // namespace msdump::check
