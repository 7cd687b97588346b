// The next dump: what to ask, so that the answer pins an operator or takes the search further up, how large it will be, and
// what each outcome would mean. compared_plan.h makes it from two dumps, checked_plan.h from one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/write_config.h"
#include "dump/index/tensor_list.h"
#include "graph/flow/run_graph.h"
#include "graph/join/dump_operators.h"
#include "ir/model/ir_graph.h"

namespace msdump {

// What a dump was asked for, of the operators of a step: all; the calls of a range, none left out; or some, by name. What
// enters a part of a network need not enter the network.
enum class DumpExtent : uint8_t { kAll, kRange, kList };
[[nodiscard]] std::string_view name_of(DumpExtent extent);  // "all", ...

// An operator that may be to blame. The frames belong to the dumps that it was found in.
struct Suspect {
  enum class Open : uint8_t {
    kPinned,       // the values that were dumped blame it, and nothing else may be to blame
    kHiddenCalls,  // of msprobe: calls inside the module or between two calls were not dumped
    kNotDumped,    // one of several operators that the dump does not have, or one that it has no values of
    kStatistics,   // only statistics were dumped
    kBefore,       // what goes in is wrong already or was not dumped, and the dump does not have what made it
    kStepsBefore,  // a value of the network is wrong where the dump begins, and the run had steps before
  };
  struct Call {
    std::string op_name;  // empty: only the line is known
    const SourceFrame* frame = nullptr;
  };
  Open open = Open::kPinned;
  std::string op_name, op_type, parameter;
  const SourceFrame* frame = nullptr;
  RunPlace place;
  std::string_view kind;  // as diff or check names it; empty: by its error alone
  std::string reason;
  std::vector<Call> others;  // that may be to blame instead, the nearest first
};
[[nodiscard]] std::string_view name_of(Suspect::Open open);  // "pinned", "hidden_calls", ...

enum class PlanState : uint8_t { kNothing, kPinned, kAsked };
[[nodiscard]] std::string_view name_of(PlanState state);  // "nothing", "pinned", "asked"

struct DumpSize {
  uint64_t tensors = 0, bytes = 0;  // of a step and rank, of one side
  uint64_t of_all = 0;              // the bytes of all tensors of the first dump, had they been dumped
  bool at_least = false;            // calls that no dump has shown yet come to it
};

struct NextPlan {
  PlanState state = PlanState::kNothing;
  std::vector<Suspect> suspects;         // pinned ones first, then most upstream first
  DumpRequest candidate, reference;      // of a single dump the candidate alone
  DumpExtent extent = DumpExtent::kAll;  // of these
  DumpSize size;
  std::string question;
  std::vector<std::string> outcomes;
};

// Of rounds that begin a case: the first that has everything, else the first. `rounds` is not empty.
template <class Round>
[[nodiscard]] size_t whole_round(const std::vector<Round>& rounds) {
  for (size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i].extent == DumpExtent::kAll) return i;
  }
  return 0;
}
// How many calls before a suspect round N asks about: 6 after round 1, and four times as many after each other.
[[nodiscard]] size_t calls_before(size_t rounds);
// The steps before `end`, ascending, at most 16.
[[nodiscard]] std::vector<int64_t> steps_before(int64_t end);
// The bytes of its elements, had they been dumped; 0 where the shape is not known.
[[nodiscard]] uint64_t bytes_of_elements(const TensorRecord& record);
// An operator as the configuration is to name it, of which `name` is the spelling of the dump's side. msprobe: the gradients
// of parameters are made by a backward call. MindSpore, without an IR: files have '_' where names have '/', so from 2.3 on it
// is chosen by a pattern.
[[nodiscard]] std::string name_to_ask(const DumpRequest& request, const SequencedOp& op, const std::string& name);

}  // namespace msdump
