// The planner of the next dump chooses its calls, steps and ranks, a list or a range, and the words for the outcomes.
// compared_plan.cpp, with a reference, and checked_plan.cpp, without one, say what is suspected.
//
// The calls before a suspect are its producers by the graph, whether they were dumped or not; without a graph, those that ran
// before it in its pass. Tensors that agree bit for bit acquit their producer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "compare/sides.h"
#include "config/write_config.h"
#include "dump/index/tensor_list.h"
#include "graph/flow/run_graph.h"
#include "graph/join/dump_operators.h"
#include "next/next_plan.h"

namespace msdump {

inline constexpr size_t kMostSuspects = 4;  // that one dump asks about

// The executions of a dump, or of two that were compared.
struct DumpRuns {
  struct Operator {
    std::string name;                   // as Suspect has it
    Sides<const SequencedOp*> on = {};  // null: the side lacks it. A dump that was checked is the candidate
  };
  struct Execution {
    OperatorId op;  // kNoId: no tensor of it was compared
    RunPlace place;
    uint64_t tensors = 0, bytes = 0;  // of elements, had they been dumped
    bool has_elements = false;        // of all its tensors
    bool equal = false;               // they agree bit for bit
  };
  Sides<const DumpWithGraph*> dumps = {};  // the reference's is null if there is none
  std::vector<std::string> dump_names;     // of several below one path
  std::vector<Operator> operators;
  std::vector<Execution> executions;  // in the order of time
  uint64_t bytes = 0;                 // of all tensors
  std::optional<int64_t> first_step;

  DumpRuns(const DumpWithGraph* candidate, const DumpWithGraph* reference, std::vector<std::string> names)
      : dumps{candidate, reference}, dump_names(std::move(names)) {}
  [[nodiscard]] bool is_on_all_sides(OperatorId op) const {
    return operators[op].on.a != nullptr && (dumps.b == nullptr || operators[op].on.b != nullptr);
  }
  // Adds a tensor of the execution, or of none (kNoId).
  void add(ExecutionId run, OperatorId op, const Identity& identity, const TensorRecord& record);
  // True if the dump begins with this step, and the run had earlier ones.
  [[nodiscard]] bool begins_with(const std::optional<int64_t>& step) const {
    return step && *step > 0 && step == first_step;
  }
  // The execution of the operator of this name in the dump, rank and step of the place; kNoId: none.
  [[nodiscard]] ExecutionId find(const std::string& name, const RunPlace& place) const;
  // True if something ran before the dump began: it has the backward pass and next to nothing of the forward one, or its
  // first call is not the first of its name.
  [[nodiscard]] bool begins_inside() const;
  // True if no execution of the operator's rank and step comes before it.
  [[nodiscard]] bool begins_at(OperatorId op, const RunPlace& place) const;
};

// `of` are the executions of `run`, which is a DiffResult or a CheckRun. An operator that is known tells the dump.
template <class Run>
[[nodiscard]] Suspect suspect_at(const Run& run, const DumpRuns& of, OperatorId op, const RunPlace& place) {
  Suspect suspect;
  suspect.op = op;
  suspect.place = place;
  if (op != kNoId) {
    const Sides<const SequencedOp*>& on = of.operators[op].on;
    suspect.op_name = of.operators[op].name;
    suspect.op_type = run.op_type(op);
    suspect.frame = run.frame(op);
    suspect.place.dump = (on.b != nullptr ? on.b : on.a)->dump;
  }
  if (suspect.place.dump < of.dump_names.size()) suspect.dump = of.dump_names[suspect.place.dump];
  if (place.rank) suspect.ranks = {*place.rank};
  return suspect;
}

// A question and its outcomes; {name} is the suspect.
struct PlanWords {
  std::string_view question;
  std::array<std::pair<std::string_view, std::string_view>, 2> outcomes;  // condition, meaning; unused ones are empty
};
using WordsTable = EnumTable<Suspect::Open, PlanWords, 7>;

[[nodiscard]] DumpRuns runs_of(const DiffResult& run);
[[nodiscard]] DumpRuns runs_of(const check::CheckRun& run);

// The dumps of a case: the last one, and the first that has all operators, which may be the same.
struct CaseRuns {
  template <class Run>
  explicit CaseRuns(const std::vector<CaseDump<Run>>& dumps)
      : begin(whole_dump(dumps)),
        whole(runs_of(*dumps[begin].run)),
        is_whole(dumps[begin].extent == DumpExtent::kAll),
        rounds(dumps.size()) {
    if (begin + 1 < rounds) later = runs_of(*dumps.back().run);
  }
  size_t begin;  // of the whole dump
  DumpRuns whole;
  bool is_whole;  // `whole` has all operators
  size_t rounds;
  std::optional<DumpRuns> later;  // none: the whole dump is the last

  [[nodiscard]] const DumpRuns& last() const { return later ? *later : whole; }
  // True if it is among the first calls of the whole dump, so that nothing before it made what it reads.
  [[nodiscard]] bool begins_network(const Suspect& suspect) const;
};

// `suspects`: pinned ones first, then most upstream first, with operators of `of`. The kind, target and mode of `as_before`
// are kept.
[[nodiscard]] NextPlan plan_for(std::vector<Suspect> suspects, const DumpRuns& of, const CaseRuns& runs,
                                const WordsTable& words, const DumpRequest& as_before);

// ---- for the two plans and their tests

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

}  // namespace msdump
