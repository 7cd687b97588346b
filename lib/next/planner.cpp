#include "next/planner.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "msprobe/names.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

void append_new(std::vector<std::string>& list, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
}

class Planner {
 public:
  Planner(PlanSource& source, const std::vector<DumpExtent>& extents, const DumpRequest& as_before)
      : source_(source),
        no_round_is_whole_(std::find(extents.begin(), extents.end(), DumpExtent::kAll) == extents.end()) {
    plan_.candidate = plan_.reference = as_before;
  }

  NextPlan plan() && {
    plan_.suspects = source_.find_suspects();
    if (plan_.suspects.empty()) return std::move(plan_);
    // A pinned operator ends the search: what is open beside it may follow from it.
    const bool pinned = plan_.suspects.front().open == Open::kPinned;
    plan_.state = pinned ? PlanState::kPinned : PlanState::kAsked;
    if (!pinned) ask(plan_.suspects.front().open);
    return std::move(plan_);
  }

 private:
  void ask(Open open) {
    const bool of_msprobe = plan_.candidate.kind == ConfigKind::kMsprobe;
    std::set<int64_t> steps, ranks;
    size_t asked = 0;
    bool all_have_steps = true;
    for (size_t i = 0; i < plan_.suspects.size() && asked < kMostSuspects; ++i) {
      const Suspect& suspect = plan_.suspects[i];
      if (suspect.open != open) continue;
      if (of_msprobe && asked > 0) break;  // its dump has one range
      ++asked;
      if (open != Open::kStepsBefore) add_calls(i, source_.calls_of(i, plan_));
      all_have_steps = all_have_steps && suspect.place.step.has_value();
      if (suspect.place.step) steps.insert(*suspect.place.step);
      const std::vector<int64_t> own = source_.ranks_of(i);
      ranks.insert(own.begin(), own.end());
    }
    const bool before = open == Open::kStepsBefore && all_have_steps;
    for (DumpRequest* const request : {&plan_.candidate, &plan_.reference}) {
      request->statistics = open == Open::kStepsBefore || everything_;
      if (everything_) request->list.clear();
      if (all_have_steps)
        request->steps = before ? steps_before(*steps.begin()) : std::vector<int64_t>(steps.begin(), steps.end());
      request->ranks.assign(ranks.begin(), ranks.end());
      request->all_risks = request->target.framework == Framework::kPyTorch;
    }
    if (open != Open::kStepsBefore && !everything_)
      plan_.extent = plan_.candidate.scope.empty() ? DumpExtent::kList : DumpExtent::kRange;
    plan_.size.at_least = open == Open::kHiddenCalls;
    source_.measure(plan_.size);
    if (everything_) plan_.size = {.of_all = plan_.size.of_all};
    say(open);
  }

  void add_calls(size_t suspect, const AskedCalls& calls) {
    const bool ends_here = plan_.suspects[suspect].open == Open::kBefore && !calls.reaches_back && no_round_is_whole_;
    everything_ = everything_ || calls.everything || ends_here;
    if (everything_) return;
    const bool range = plan_.candidate.kind == ConfigKind::kMsprobe && calls.reaches_back && calls.is_call;
    for (const auto& [request, names] :
         {std::pair(&plan_.candidate, &calls.candidate), std::pair(&plan_.reference, &calls.reference)}) {
      if (range) {
        request->scope = names->range;
      } else {
        append_new(request->list, names->list);
      }
    }
  }

  void say(Open open) {
    const Suspect& suspect = plan_.suspects.front();
    const auto filled = [&](std::string_view text) {
      return fmt::format(fmt::runtime(text),
                         fmt::arg("name", suspect.op_name.empty() ? suspect.parameter : suspect.op_name),
                         fmt::arg("count", plan_.candidate.list.size()));
    };
    const PlanWords& words = source_.words(open);
    plan_.question = filled(words.question);
    for (const auto& [condition, meaning] : words.outcomes) {
      if (!condition.empty()) plan_.outcomes.push_back(fmt::format("if {}: {}", filled(condition), filled(meaning)));
    }
  }

  PlanSource& source_;
  const bool no_round_is_whole_;
  NextPlan plan_;
  bool everything_ = false;  // no round has the calls before
};

}  // namespace

NextPlan plan_with(PlanSource& source, const std::vector<DumpExtent>& extents, const DumpRequest& as_before) {
  return Planner(source, extents, as_before).plan();
}

size_t calls_before(size_t rounds) {
  constexpr size_t kFirst = 6, kMostDoublings = 10;
  return kFirst << std::min(2 * (rounds - 1), kMostDoublings);
}

std::vector<int64_t> steps_before(int64_t end) {
  constexpr int64_t kMost = 16;
  std::vector<int64_t> steps;
  for (int64_t step = std::max<int64_t>(0, end - kMost); step < end; ++step) steps.push_back(step);
  return steps;
}

uint64_t bytes_of_elements(const TensorRecord& record) {
  if (record.shape == nullptr) return record.bytes.value_or(0);
  const auto count = element_count(*record.shape);
  return count ? bytes_of(record.name.dtype, *count).value_or(0) : 0;
}

std::string name_to_ask(const DumpRequest& request, const SequencedOp& op, const std::string& name) {
  constexpr Version kPatterns{2, 3, 0};
  if (request.kind == ConfigKind::kMsprobe) return backward_entry_of(name).value_or(name);
  const bool patterns = request.target.version.value_or(kPatterns) >= kPatterns;
  if (request.kind != ConfigKind::kDataDump || op.op != kNoId || !patterns) return name;
  std::string pattern;
  for (const char c : name) pattern += c == '_' ? "[_/]" : std::string(1, c);
  return fmt::format("name-regex({})", pattern);
}

}  // namespace msdump
