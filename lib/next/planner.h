// The planner of the next dump chooses its calls, steps and ranks, a list or a range, and the words for the outcomes. A
// PlanSource knows the rounds of the case: compared_plan.cpp those with a reference, checked_plan.cpp the others.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/write_config.h"
#include "dump/index/tensor_list.h"
#include "graph/join/dump_operators.h"
#include "next/next_plan.h"

namespace msdump {

inline constexpr size_t kMostSuspects = 4;  // that one dump asks about

// The calls that a dump about a suspect asks for.
struct AskedCalls {
  struct Names {
    std::vector<std::string> list;   // in the order of the configuration
    std::vector<std::string> range;  // the first and the last
  };
  Names candidate, reference;
  bool reaches_back = false;  // calls before the suspect are known
  bool everything = false;    // statistics of all calls, as no name is known
  bool is_call = false;       // the last one is a call of msprobe; a range ends before what its last module makes
};

// A question and its outcomes. {name} is the suspect, {count} the number of calls that are asked for.
struct PlanWords {
  std::string_view question;
  std::array<std::pair<std::string_view, std::string_view>, 2> outcomes;  // condition, meaning; unused ones are empty
};

class PlanSource {
 public:
  PlanSource() = default;
  PlanSource(const PlanSource&) = delete;
  PlanSource& operator=(const PlanSource&) = delete;
  virtual ~PlanSource() = default;

  // Pinned ones first, then most upstream first. Other functions take an index of these.
  virtual std::vector<Suspect> find_suspects() = 0;
  // The ranks that a dump about the suspect has.
  [[nodiscard]] virtual std::vector<int64_t> ranks_of(size_t suspect) const = 0;
  // The calls to ask for. What is asked for by other means than names is set in the plan.
  virtual AskedCalls calls_of(size_t suspect, NextPlan& plan) = 0;
  // Adds the tensors and bytes of the calls that calls_of() returned.
  virtual void measure(DumpSize& size) const = 0;
  [[nodiscard]] virtual const PlanWords& words(Suspect::Open open) const = 0;
};

// `extents` of the rounds, oldest first. The kind, target and mode of `as_before` are kept.
[[nodiscard]] NextPlan plan_with(PlanSource& source, const std::vector<DumpExtent>& extents,
                                 const DumpRequest& as_before);

// ---- for the sources

// The number of calls before a suspect that round N asks for: 6 after round 1, and four times as many after each other.
[[nodiscard]] size_t calls_before(size_t rounds);
// The steps before `end`, ascending, at most 16.
[[nodiscard]] std::vector<int64_t> steps_before(int64_t end);
// The bytes of the elements, had they been dumped; 0 if the shape is not known.
[[nodiscard]] uint64_t bytes_of_elements(const TensorRecord& record);
// The name of an operator in a configuration; `name` is its spelling on that side of the comparison.
//   * msprobe: for the gradients of parameters, the backward call that computes them
//   * MindSpore 2.3 and later, without an IR: a pattern, because files have '_' for the '/' of names
[[nodiscard]] std::string name_to_ask(const DumpRequest& request, const SequencedOp& op, const std::string& name);

template <class Round>
[[nodiscard]] std::vector<DumpExtent> extents_of(const std::vector<Round>& rounds) {
  std::vector<DumpExtent> extents;
  for (const Round& round : rounds) extents.push_back(round.extent);
  return extents;
}

}  // namespace msdump
