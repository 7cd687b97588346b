// Inputs and outputs: operators with only some of theirs, in a dump that has both.
//
// If a run has several graphs (branches, loops), MindSpore does not dump all inputs that cross from one to another, so
// only outputs are judged there. The same goes for a graph with dynamic shapes, where inputs that are shapes are not
// dumped.
// Source: the dumps of branches and loops in corpus/real.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/completeness.h"
#include "msprobe/names.h"

namespace msdump::check {
namespace {

// Of one run.
struct Slots {
  std::vector<uint32_t> lacking_inputs;
  bool lacks_outputs = false;
  bool has_inputs = false, has_outputs = false;
};

class SlotJudge {
 public:
  SlotJudge(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings)
      : dump_(input.dump), index_(input.dump.index()), rules_(rules), findings_(findings) {
    written_.assign(dump_.runs().size(), false);
    for (uint32_t tensor = 0; tensor < dump_.tensors(); ++tensor) {
      const uint32_t run = dump_.run_of(tensor);
      if (run != kNone && dump_.record(tensor).name.io == Io::kOutput) written_[run] = true;
    }
  }

  void run() {
    std::vector<Slots> all;
    for (uint32_t run = 0; run < dump_.runs().size(); ++run) {
      all.push_back(slots_of(run));
      graphs_[dump_.runs()[run].place.rank].insert(dump_.runs()[run].graph);
    }
    const auto most = [&](bool Slots::*has) {
      return static_cast<size_t>(std::count_if(all.begin(), all.end(), [&](const Slots& one) { return one.*has; })) *
                 2 >
             all.size();
    };
    const bool with_inputs = most(&Slots::has_inputs), with_outputs = most(&Slots::has_outputs);
    for (uint32_t run = 0; run < all.size(); ++run) {
      const Slots& one = all[run];
      if (with_outputs && one.has_inputs && !one.has_outputs) add(run, "no output");
      if (!with_inputs || !one.has_outputs || one.lacking_inputs.empty()) continue;
      if (graphs_[dump_.runs()[run].place.rank].size() == 1 && !dump_.has_dynamic_shapes(dump_.runs()[run].op))
        add(run, "input " + fmt::format("{}", fmt::join(one.lacking_inputs, ", ")));
    }
    report();
  }

 private:
  using Number = std::optional<int64_t>;
  struct Group {
    uint32_t folder = 0;
    std::vector<std::string> names;
  };

  [[nodiscard]] Slots slots_of(uint32_t run) const {
    Slots slots;
    const OpRun& one = dump_.runs()[run];
    // A function of a script may return nothing, and take nothing.
    if (parse_msprobe_entry(dump_.operators()[one.op].name)) return slots;
    slots.has_outputs = written_[run];
    for (const RunInput& input : one.inputs) {
      if (input.tensor != kNone) {
        slots.has_inputs = true;
      } else if (input.from == InputEdge::From::kOperator || input.from == InputEdge::From::kParameter) {
        slots.lacking_inputs.push_back(input.slot);
      }
    }
    slots.has_inputs = slots.has_inputs || std::any_of(one.outputs.begin(), one.outputs.end(), [&](uint32_t tensor) {
                         return dump_.role(tensor) == TensorRole::kUpdated;
                       });
    return slots;
  }

  void add(uint32_t run, const std::string& what) {
    const OpRun& one = dump_.runs()[run];
    Group& group = groups_[{one.place.rank, one.graph, one.place.step}];
    if (group.names.empty()) group.folder = folder_of(one);
    group.names.push_back(fmt::format("{} ({})", dump_.operators()[one.op].name, what));
  }

  [[nodiscard]] uint32_t folder_of(const OpRun& run) const {
    return index_.files()[dump_.record(dump_.any_tensor_of(run)).file].folder;
  }

  void report() {
    for (const auto& [place, group] : groups_) {
      Finding finding = tree_finding(rules_, RuleId::kMissingSlots,
                                     fmt::format("{} without a tensor that others have: {}",
                                                 plural(group.names.size(), "operator"), first_names(group.names)));
      std::tie(finding.rank, finding.graph, finding.step) = place;
      finding.value = group.names.size();
      finding.path = index_.folders()[group.folder].relative;
      finding.hint = "files were deleted or not copied, or the run ended while the operator was dumped";
      findings_.push_back(std::move(finding));
    }
  }

  const CheckedDump& dump_;
  const DumpIndex& index_;
  const RuleSet& rules_;
  std::vector<Finding>& findings_;
  std::vector<bool> written_;  // by run: it has an output file, whether or not anything was written to it
  std::map<Number, std::set<Number>> graphs_;                   // of a rank
  std::map<std::tuple<Number, Number, Number>, Group> groups_;  // by rank, graph, step
};

}  // namespace

void judge_slots(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  if (rules.on(RuleId::kMissingSlots)) SlotJudge(input, rules, findings).run();
}

}  // namespace msdump::check
