#include "check/first_nonfinite.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "check/health.h"
#include "check/value_rules.h"

namespace msdump::check {
namespace {

using Kind = FirstNonfinite::Kind;
using From = InputEdge::From;

// Read at a time: many tensors keep the kernels busy, and few are read in vain.
constexpr size_t kBatchTensors = 128;
constexpr uint64_t kBatchBytes = uint64_t{64} << 20;

bool communicates(std::string_view op_type) {
  std::string type = to_lower(op_type);
  std::erase(type, '_');
  if (type.starts_with("broadcastto")) return false;
  for (const std::string_view word : {"allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "receive",
                                      "recv", "send", "neighborexchange", "collective"}) {
    if (type.starts_with(word)) return true;
  }
  return false;
}

class Search {
 public:
  Search(const OpRuns& runs, FactsReader& facts, const ReadContext& context)
      : runs_(runs), facts_(facts), context_(context), health_(runs, facts) {}

  Result<std::optional<FirstNonfinite>> run() {
    const std::vector<OpRun>& all = runs_.runs();
    for (uint32_t begin = 0; begin < all.size();) {
      uint32_t end = begin;
      while (end < all.size() && all[end].step == all[begin].step) ++end;
      MSDUMP_TRY(std::optional<FirstNonfinite> found, search_step(begin, end));
      if (found) return found;
      begin = end;
    }
    return all.empty() ? search_parameters() : std::optional<FirstNonfinite>();
  }

 private:
  // The runs of one step, rank by rank.
  Result<std::optional<FirstNonfinite>> search_step(uint32_t begin, uint32_t end) {
    std::optional<FirstNonfinite> best;
    uint32_t best_place = kNone;  // in its rank
    while (begin < end) {
      uint32_t stop = begin;
      while (stop < end && runs_.runs()[stop].rank == runs_.runs()[begin].rank) ++stop;
      const uint32_t last = best && !communicates(type_of(*best)) ? std::min(stop, begin + best_place) : stop;
      MSDUMP_TRY(std::optional<FirstNonfinite> found, search_runs(begin, last));
      if (found && (!best || communicates(type_of(*best)) >= communicates(type_of(*found)))) {
        const bool earlier =
            !best || communicates(type_of(*best)) != communicates(type_of(*found)) || found->run - begin < best_place;
        if (earlier) {
          best_place = found->run - begin;
          best = std::move(found);
        }
      }
      begin = stop;
    }
    return best;
  }

  [[nodiscard]] std::string_view type_of(const FirstNonfinite& found) const { return runs_.operators()[found.op].type; }

  Result<std::optional<FirstNonfinite>> search_runs(uint32_t begin, uint32_t end) {
    while (begin < end) {
      std::vector<uint32_t> batch;
      uint64_t bytes = 0;
      uint32_t stop = begin;
      for (; stop < end && batch.size() < kBatchTensors && bytes < kBatchBytes; ++stop) {
        for (const uint32_t tensor : judged_of(stop)) {
          batch.push_back(tensor);
          bytes += runs_.record(tensor).bytes.value_or(0);
        }
      }
      MSDUMP_CHECK_OK(facts_.read(batch, context_));
      for (uint32_t run = begin; run < stop; ++run) {
        MSDUMP_TRY(const bool bad, is_bad(run));
        if (!bad) continue;
        MSDUMP_TRY(FirstNonfinite found, explain(run));
        return std::optional(std::move(found));
      }
      begin = stop;
    }
    return std::optional<FirstNonfinite>();
  }

  // What tells of the results of a run; of one without results, and nobody who read them, what it read.
  [[nodiscard]] std::vector<uint32_t> judged_of(uint32_t run) const {
    const OpRun& one = runs_.runs()[run];
    if (!one.outputs.empty()) return one.outputs;
    std::vector<uint32_t> tensors = runs_.stand_ins(run);
    return tensors.empty() && !runs_.has_flow() ? health_.inputs_of(run) : tensors;
  }

  Result<bool> is_bad(uint32_t run) {
    const std::vector<uint32_t> judged = judged_of(run);
    if (std::any_of(judged.begin(), judged.end(), [&](uint32_t tensor) { return health_.needs_inputs(tensor); }))
      MSDUMP_CHECK_OK(facts_.read(health_.inputs_of(run), context_));
    return std::any_of(judged.begin(), judged.end(),
                       [&](uint32_t tensor) { return health_.of(tensor) == Health::kBad; });
  }

  [[nodiscard]] bool came_in_bad(const RunInput& input) const {
    const uint32_t tensor = input.tensor != kNone ? input.tensor : input.made_as;
    if (tensor == kNone) return false;
    const TensorFacts& facts = facts_[tensor];
    return facts.has_nan || facts.has_positive_inf ||
           (facts.has_negative_inf && input.is_weight && !is_two_valued(facts));
  }

  Result<FirstNonfinite> explain(uint32_t run) {
    for (std::set<uint32_t> seen; seen.insert(run).second;) {
      const OpRun& one = runs_.runs()[run];
      MSDUMP_CHECK_OK(facts_.read(health_.inputs_of(run), context_));
      const auto bad =
          std::find_if(one.inputs.begin(), one.inputs.end(), [&](const RunInput& input) { return came_in_bad(input); });
      if (bad == one.inputs.end()) return root(run);
      // In a loop its maker may come later in the order of runs.
      if (bad->made_by != kNone && bad->made_as != kNone) {
        const std::array<uint32_t, 1> made = {bad->made_as};
        MSDUMP_CHECK_OK(facts_.read(made, context_));
        MSDUMP_TRY(const bool also_bad, is_bad(bad->made_by));
        if (also_bad) {
          run = bad->made_by;
          continue;
        }
      }
      return entered(run, *bad);
    }
    return root(run);
  }

  FirstNonfinite start(uint32_t run) const {
    FirstNonfinite found;
    found.run = run;
    found.op = runs_.runs()[run].op;
    found.inputs = health_.inputs_of(run);
    found.outputs = runs_.runs()[run].outputs;
    found.inputs_finite =
        !found.inputs.empty() && std::all_of(found.inputs.begin(), found.inputs.end(),
                                             [&](uint32_t tensor) { return facts_[tensor].is_finite(); });
    return found;
  }

  [[nodiscard]] Kind kind_of(uint32_t tensor) const { return facts_[tensor].has_nan ? Kind::kNan : Kind::kInf; }

  FirstNonfinite root(uint32_t run) const {
    FirstNonfinite found = start(run);
    const std::vector<uint32_t> judged = judged_of(run);
    const auto bad =
        std::find_if(judged.begin(), judged.end(), [&](uint32_t tensor) { return health_.of(tensor) == Health::kBad; });
    found.tensor = *bad;
    found.kind = kind_of(*bad);
    if (found.inputs_finite) {
      found.reason = "its inputs are finite, its output is not";
    } else if (found.inputs.empty()) {
      found.reason = "its output is not finite; its inputs were not dumped";
    } else {
      found.reason = "its inputs have no NaN and no +inf, only the -inf of a mask; its output is not finite";
    }
    return found;
  }

  // An input was bad when it came.
  FirstNonfinite entered(uint32_t run, const RunInput& bad) const {
    FirstNonfinite found = start(run);
    found.tensor = bad.tensor != kNone ? bad.tensor : bad.made_as;
    found.parameter = bad.parameter;
    const TensorRecord& record = runs_.record(found.tensor);
    const std::string input = slot_text(record);
    const bool of_module = record.name.io == Io::kParameter;
    if (of_module) found.parameter = record.name.slot;
    if (bad.is_weight || of_module) {
      found.kind = Kind::kParameter;
      found.reason = fmt::format("its {} is the parameter {}, which is not finite before the operator runs", input,
                                 found.parameter);
    } else if (bad.from == From::kParameter) {
      found.kind = Kind::kInput;
      found.reason =
          fmt::format("its {} is the input {} of the graph, which is not finite already", input, found.parameter);
    } else if (bad.from == From::kOperator && bad.made_as == kNone) {
      found.kind = kind_of(found.tensor);
      found.reason = fmt::format("its {} is not finite already; what made it was not dumped", input);
    } else if (bad.from == From::kOperator) {
      found.kind = Kind::kInput;
      found.reason = fmt::format("its {} is not finite, although it was when {} wrote it", input,
                                 runs_.operators()[runs_.runs()[bad.made_by].op].name);
    } else {
      found.kind = Kind::kInput;
      found.reason = fmt::format("its {} is not finite already, and no operator before it made it", input);
    }
    return found;
  }

  // A dump of parameters alone.
  Result<std::optional<FirstNonfinite>> search_parameters() {
    for (uint32_t tensor = 0; tensor < runs_.tensors(); ++tensor) {
      if (runs_.role(tensor) != Role::kParameter || runs_.op_of(tensor) == kNone) continue;
      const std::array<uint32_t, 1> one = {tensor};
      MSDUMP_CHECK_OK(facts_.read(one, context_));
      if (!facts_[tensor].known() || facts_[tensor].is_finite()) continue;
      FirstNonfinite found;
      found.kind = Kind::kParameter;
      found.op = runs_.op_of(tensor);
      found.tensor = tensor;
      found.parameter = runs_.record(tensor).name.op_name;
      found.reason = "the parameter is not finite; no operator was dumped";
      return std::optional(std::move(found));
    }
    return std::optional<FirstNonfinite>();
  }

  const OpRuns& runs_;
  FactsReader& facts_;
  const ReadContext& context_;
  const HealthJudge health_;
};

}  // namespace

std::string_view name_of(FirstNonfinite::Kind kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"nan", "inf", "overflow", "input", "parameter"};
  return kNames[static_cast<size_t>(kind)];
}

Result<std::optional<FirstNonfinite>> find_first_nonfinite(const OpRuns& runs, FactsReader& facts,
                                                           const ReadContext& context) {
  return Search(runs, facts, context).run();
}

}  // namespace msdump::check
