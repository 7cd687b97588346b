// The plan of the next dump. It has the calls to ask for, the size of the dump, the question that it answers, and the
// meaning of each outcome. compared_plan.cpp makes it from two dumps, checked_plan.cpp from one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/sides.h"
#include "config/write_config.h"
#include "divergence/roots/unseen_calls.h"
#include "dump/index/tensor_list.h"
#include "graph/flow/run_graph.h"
#include "ir/model/ir_graph.h"

namespace msdump {

struct DiffResult;
namespace check {
struct CheckRun;
}

// The operators of a step that a dump was asked for: all, the calls of a range, or some by name. A value that enters such a
// part need not enter the network.
enum class DumpExtent : uint8_t { kAll, kRange, kList };
[[nodiscard]] std::string_view name_of(DumpExtent extent);  // "all", ...

// An operator that may be to blame. The frames belong to the dumps that it was found in.
struct Suspect {
  enum class Open : uint8_t {
    kPinned,       // the values that were dumped blame it, and nothing else may be to blame
    kHiddenCalls,  // msprobe: calls inside the module or between two calls were not dumped
    kNotDumped,    // one of several operators that the dump does not have, or one that it has no values of
    kStatistics,   // only statistics were dumped
    kNoInput,      // it would be computed again, but its inputs were not dumped
    kBefore,       // an input is wrong already or was not dumped, and neither was its producer
    kStepsBefore,  // a value of the network is wrong in the first step that was dumped, and the run had earlier ones
  };
  struct Call {
    std::string op_name;  // empty: only the line is known
    const SourceFrame* frame = nullptr;
  };
  Open open = Open::kPinned;
  bool only_reads = false;  // an input is wrong already: what made it is to blame, and not the operator
  std::string op_name, op_type, parameter;
  const SourceFrame* frame = nullptr;
  RunPlace place;
  std::string dump;       // of several below one path, as DumpIndex::dumps names it
  std::string_view kind;  // as diff or check names it; empty: by its error alone
  std::string reason;
  std::vector<Call> others;  // that may be to blame instead, the nearest first
  // The next dump is to have these:
  OperatorId op = {};                    // kNoId: not known
  std::vector<OperatorId> further = {};  // operators beside it
  std::vector<int64_t> ranks = {};
  std::optional<Sides<MsprobeSettings>> hidden = {};  // calls of kHiddenCalls
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
  std::vector<Suspect> suspects;         // in the order of the roots; of a part of a dump, pinned ones first
  DumpRequest candidate, reference;      // of a single dump the candidate alone
  DumpExtent extent = DumpExtent::kAll;  // of these
  DumpSize size;
  std::string question;
  std::vector<std::string> outcomes;
  std::string nothing = "no operator stands out";  // kNothing: why no dump is asked for
};

// A dump of the case, and what `Run` found in it: a DiffResult with a reference, else a CheckRun. Null: not needed.
template <class Run>
struct CaseDump {
  const Run* run = nullptr;
  DumpExtent extent = DumpExtent::kAll;
};

// The first dump of a case that has all operators, else the first. `dumps` is not empty.
template <class Run>
[[nodiscard]] size_t whole_dump(const std::vector<CaseDump<Run>>& dumps) {
  for (size_t i = 0; i < dumps.size(); ++i) {
    if (dumps[i].extent == DumpExtent::kAll) return i;
  }
  return 0;
}

// `dumps` of one case, oldest first, at least one; only the last one and whole_dump() are looked at, others may be null. What
// `as_before` says of the kind, the target and the mode is kept. The plan of dumps that were checked has no reference.
[[nodiscard]] NextPlan plan_next(const std::vector<CaseDump<DiffResult>>& dumps, const DumpRequest& as_before);
[[nodiscard]] NextPlan plan_next(const std::vector<CaseDump<check::CheckRun>>& dumps, const DumpRequest& as_before);

// Returns kList if something ran before the dump began, else kAll.
[[nodiscard]] DumpExtent extent_of(const DiffResult& run);
[[nodiscard]] DumpExtent extent_of(const check::CheckRun& run);

}  // namespace msdump
