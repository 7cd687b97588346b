#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/completeness.h"
#include "compare/match/op_sequence.h"
#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump::check {

// Rule missing_slots: operators with only some of their inputs and outputs, in a dump that has both.
//
// If a run has several graphs (branches, loops), MindSpore does not dump all inputs that cross from one to another. Graphs
// with dynamic shapes lack inputs that are shapes. In both, only outputs are judged.

namespace {

// Slots of one execution.
struct Slots {
  std::vector<uint32_t> lacking_inputs;
  bool lacks_outputs = false;
  bool has_inputs = false, has_outputs = false;
};

class SlotJudge {
 public:
  explicit SlotJudge(RuleContext& context) : context_(context), dump_(context.dump), index_(context.dump.index()) {
    written_.assign(dump_.runs().size(), false);
    for (TensorId tensor{0}; tensor < dump_.tensors(); ++tensor) {
      const ExecutionId run = dump_.run_of(tensor);
      if (run != kNoId && dump_.record(tensor).name.io == Io::kOutput) written_[run] = true;
    }
  }

  void run() {
    std::vector<Slots> all;
    for (ExecutionId run{0}; run < dump_.runs().size(); ++run) {
      all.push_back(slots_of(run));
      graphs_[dump_.runs()[run].place.rank].insert(dump_.runs()[run].graph);
    }
    const auto most = [&](bool Slots::*has) {
      return static_cast<size_t>(std::count_if(all.begin(), all.end(), [&](const Slots& one) { return one.*has; })) *
                 2 >
             all.size();
    };
    const bool with_inputs = most(&Slots::has_inputs), with_outputs = most(&Slots::has_outputs);
    for (ExecutionId run{0}; run < all.size(); ++run) {
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

  [[nodiscard]] Slots slots_of(ExecutionId run) const {
    Slots slots;
    const OpRun& one = dump_.runs()[run];
    // A function of a script may return nothing, and take nothing.
    if (parse_msprobe_entry(dump_.operators()[one.op].name)) return slots;
    slots.has_outputs = written_[run];
    for (const RunInput& input : one.inputs) {
      if (input.tensor != kNoId) {
        slots.has_inputs = true;
      } else if (input.from == InputEdge::From::kOperator || input.from == InputEdge::From::kParameter) {
        slots.lacking_inputs.push_back(input.slot);
      }
    }
    slots.has_inputs = slots.has_inputs || std::any_of(one.outputs.begin(), one.outputs.end(), [&](TensorId tensor) {
                         return dump_.role(tensor) == TensorRole::kUpdated;
                       });
    return slots;
  }

  void add(ExecutionId run, const std::string& what) {
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
      const auto& [rank, graph, step] = place;
      context_.report_place(RuleId::kMissingSlots, {rank, graph, step, index_.folders()[group.folder].relative},
                            group.names.size(),
                            fmt::format("{} without a tensor that others have: {}",
                                        plural(group.names.size(), "operator"), first_names(group.names)));
    }
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const DumpIndex& index_;
  std::vector<bool> written_;  // by execution: it has an output file, whether or not anything was written to it
  std::map<Number, std::set<Number>> graphs_;                   // of a rank
  std::map<std::tuple<Number, Number, Number>, Group> groups_;  // by rank, graph, step
};

}  // namespace

void judge_slots(RuleContext& context) {
  if (context.judges(RuleId::kMissingSlots)) SlotJudge(context).run();
}

// Operators without tensors, tensors without operators, and a run that ended between two operators.

namespace {

using Number = std::optional<int64_t>;

// This many operators after the last dumped one are not a coincidence.
constexpr size_t kShortestTail = 4;

// The operators of one graph in their order, and which of them were dumped.
struct Expected {
  std::string path;  // of the file that says so
  std::vector<std::string> names;
  std::vector<OperatorId> ops;  // CheckedDump::operators(); empty without an IR
  std::vector<bool> dumped;
};

class OperatorJudge {
 public:
  OperatorJudge(RuleContext& context, const TreeInput& tree)
      : context_(context), dump_(context.dump), tree_(tree), index_(context.dump.index()) {}

  void run() {
    const bool from_ir = dump_.has_flow();
    if (!tree_.settings.of_some_operators()) {
      for (const auto& [graph, expected] : from_ir ? of_ir() : of_execution_orders()) judge(graph, expected);
    }
    if (from_ir && !tree_.settings.watcher) judge_unexplained();
    judge_partial();
  }

 private:
  using Graph = std::pair<Number, Number>;  // rank, graph

  std::map<Graph, Expected> of_ir() {
    std::map<Graph, Expected> graphs;
    std::set<Graph> with_tensors;
    for (const SequencedOp& op : dump_.operators()) {
      if (op.op == kNoId) continue;
      const Origin& origin = dump_.graph()->origin(op.op);
      Expected& expected = graphs[{op.rank, op.graph}];
      expected.path = origin.path;
      expected.names.push_back(op.name);
      expected.ops.emplace_back(&op - dump_.operators().data());
      expected.dumped.push_back(!op.tensors.empty());
      if (!op.tensors.empty()) with_tensors.emplace(op.rank, op.graph);
    }
    std::erase_if(graphs, [&](const auto& one) { return with_tensors.count(one.first) == 0 || !explains(one.first); });
    return graphs;
  }

  // True if the IR belongs to the tensors of its graph. A group without a rank or graph belongs to every one.
  [[nodiscard]] bool explains(const Graph& graph) {
    if (groups_.empty()) {
      const FileJoin& join = *dump_.join();
      for (const TensorGroup& group : join.groups()) {
        if (group.parameter) continue;
        ExplainedGroups& count = groups_[{group.rank, group.graph}];
        ++count.all;
        count.explained += join.rule_of(group) != JoinRule::kUnmatched ? 1U : 0U;
      }
    }
    ExplainedGroups sum;
    const auto& [rank, number] = graph;
    for (const Graph& place : std::set<Graph>{graph, {rank, {}}, {{}, number}, {{}, {}}}) {
      const auto found = groups_.find(place);
      if (found == groups_.end()) continue;
      sum.all += found->second.all;
      sum.explained += found->second.explained;
    }
    return sum.all > 0 && sum.mostly();
  }

  // Operators by name, without an IR. Names count without their numbers, which files may have anew.
  std::map<Graph, Expected> of_execution_orders() {
    count_names();
    std::map<Graph, Expected> graphs;
    for (const OperatorOrder& order : tree_.orders.operators) {
      const Graph graph{order.rank, order.graph};
      Expected expected;
      expected.path = order.path;
      expected.names = order.names;
      expected.dumped.assign(expected.names.size(), false);
      if (mark_dumped(graph, expected)) graphs.emplace(graph, std::move(expected));
    }
    return graphs;
  }

  // The full name of an operator and its last part, spelled as in files and without numbers.
  static std::pair<std::string, std::string> keys_of(std::string_view name) {
    const size_t slash = name.rfind('/');
    const std::string_view leaf = slash == std::string_view::npos ? name : name.substr(slash + 1);
    return {normalised_op_name(name_without_numbers(name)), normalised_op_name(name_without_numbers(leaf))};
  }

  void count_names() {
    for (const SequencedOp& op : dump_.operators()) {
      if (op.type != "Parameter" && !op.tensors.empty()) ++dumped_names_[{op.rank, op.graph}][keys_of(op.name).first];
    }
  }

  // Number of operators of this name that were dumped, in the graph or in an unknown one.
  [[nodiscard]] size_t count_dumped(const Graph& graph, const std::string& name) const {
    size_t count = 0;
    for (const Graph& place : std::set<Graph>{graph, {graph.first, {}}}) {
      const auto names = dumped_names_.find(place);
      if (names == dumped_names_.end()) continue;
      const auto found = names->second.find(name);
      count += found == names->second.end() ? 0 : found->second;
    }
    return count;
  }

  // The n-th operator of a name was dumped if n of that name were. False when nothing of the graph was.
  bool mark_dumped(const Graph& graph, Expected& expected) const {
    std::map<std::string, size_t> used;
    bool any = false;
    for (size_t i = 0; i < expected.names.size(); ++i) {
      const auto [full, leaf] = keys_of(expected.names[i]);
      const std::string& name = count_dumped(graph, full) > 0 ? full : leaf;
      if (used[name] >= count_dumped(graph, name)) continue;
      ++used[name];
      expected.dumped[i] = any = true;
    }
    return any;
  }

  void judge(const Graph& graph, const Expected& expected) {
    const auto missing = static_cast<size_t>(std::count(expected.dumped.begin(), expected.dumped.end(), false));
    if (missing == 0) return;
    const std::vector<bool> ended = ended_of(expected);
    const auto after_end = static_cast<size_t>(std::count(ended.begin(), ended.end(), true));
    const size_t all = expected.dumped.size();
    const bool stopped = after_end >= kShortestTail && after_end * 50 >= all && (missing - after_end) * 10 <= all;
    if (stopped && context_.judges(RuleId::kStopped)) {
      const auto first = static_cast<size_t>(std::find(ended.begin(), ended.end(), true) - ended.begin());
      std::string message =
          fmt::format("{} of {} have no tensor, and nothing that was dumped has read them: from {} on", after_end,
                      plural(all, "operator"), expected.names[first]);
      const std::string last = last_of(expected);
      if (!last.empty()) message += fmt::format("; the last one dumped is {}", last);
      Finding& finding = report(RuleId::kStopped, graph, after_end, std::move(message), expected.path);
      finding.hint =
          "the process ended or the disk was full before the step was over; if the run goes on, it is still being "
          "written";
      return;
    }
    if (!context_.judges(RuleId::kMissingFiles)) return;
    std::vector<std::string> names;
    for (size_t i = 0; i < expected.names.size(); ++i) {
      if (!expected.dumped[i]) names.push_back(expected.names[i]);
    }
    Finding& finding =
        report(RuleId::kMissingFiles, graph, missing,
               fmt::format("{} of {} without a tensor: {}", missing, plural(all, "operator"), first_names(names)),
               expected.path);
    // More than this many cannot all lack a kernel.
    if (tree_.settings.dump_mode == 0 && missing * 5 >= all) finding.raise_severity(Severity::kWarning);
    finding.hint =
        "without a kernel of its own (a Reshape), fused, in a branch not taken, or not selected (dump_mode, "
        "kernels); msdump map-ir --unmatched lists all";
  }

  [[nodiscard]] std::vector<bool> ended_of(const Expected& expected) const {
    std::vector<bool> ended(expected.dumped.size(), false);
    if (expected.ops.empty()) {
      for (size_t i = ended.size(); i-- > 0 && !expected.dumped[i];) ended[i] = true;
      return ended;
    }
    ended = unread_of_missing(dump_, expected.ops, [&](auto op) { return !dump_.operators()[op].tensors.empty(); });
    return ended;
  }

  [[nodiscard]] std::string last_of(const Expected& expected) const {
    if (expected.ops.empty()) {
      const auto last = std::find(expected.dumped.rbegin(), expected.dumped.rend(), true);
      return expected.names[static_cast<size_t>(expected.dumped.rend() - last) - 1];
    }
    const OperatorId last = last_in_time(dump_, expected.ops, std::nullopt);
    return last == kNoId ? std::string() : std::string(dump_.operators()[last].name);
  }

  Finding& report(RuleId id, const Graph& graph, size_t operators, std::string message, const std::string& path = {}) {
    return context_.report_place(id, {.rank = graph.first, .graph = graph.second, .path = index_.relative(path)},
                                 operators, std::move(message));
  }

  void judge_unexplained() {
    if (!context_.judges(RuleId::kUnexplainedFiles)) return;
    const FileJoin& join = *dump_.join();
    std::map<std::tuple<Number, Number, std::string>, std::vector<std::string>> found;
    for (const TensorGroup& group : join.groups()) {
      if (join.rule_of(group) != JoinRule::kUnmatched || group.parameter) continue;
      found[{group.rank, group.graph, join.reason(group)}].emplace_back(group.op_name);
    }
    for (const auto& [key, names] : found) {
      const auto& [rank, graph, reason] = key;
      report(RuleId::kUnexplainedFiles, {rank, graph}, names.size(),
             fmt::format("tensors of {} that the IR does not explain: {}; {}", plural(names.size(), "operator"),
                         first_names(names), reason));
    }
  }

  void judge_partial() {
    if (!context_.judges(RuleId::kPartialDump) || tree_.settings.watcher) return;
    size_t with_inputs = 0, with_outputs = 0;
    for (TensorId tensor{0}; tensor < dump_.tensors(); ++tensor) {
      const NameFacts& name = dump_.record(tensor).name;
      if (dump_.run_of(tensor) == kNoId && dump_.role(tensor) != TensorRole::kUnwritten) continue;
      (name.io == Io::kInput ? with_inputs : with_outputs) += 1;
    }
    const auto add_note = [&](std::string message, std::string hint) {
      context_.report_place(RuleId::kPartialDump, {.path = tree_.settings.path}, {}, std::move(message)).hint =
          std::move(hint);
    };
    if (with_inputs > 0 && with_outputs == 0)
      add_note("only inputs were dumped: what an operator made shows where the next one reads it",
               "input_output 0 (msprobe: data_mode all) dumps both");
    if (with_outputs > 0 && with_inputs == 0)
      add_note("only outputs were dumped: what went into an operator shows only where it was made",
               "input_output 0 (msprobe: data_mode all) dumps both");
    if (tree_.settings.dump_mode == 1 || tree_.settings.dump_mode == 2)
      add_note(fmt::format("only some operators were dumped (dump_mode {})", *tree_.settings.dump_mode),
               "dump_mode 0 dumps all");
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const TreeInput& tree_;
  const DumpIndex& index_;
  std::map<Graph, ExplainedGroups> groups_;                      // of tensors
  std::map<Graph, std::map<std::string, size_t>> dumped_names_;  // how many operators of each name have tensors
};

}  // namespace

std::vector<bool> unread_of_missing(const CheckedDump& dump, const std::vector<OperatorId>& ops,
                                    const std::function<bool(OperatorId)>& is_dumped) {
  // Readers come after what they read.
  std::vector<bool> unread(ops.size(), false);
  for (size_t i = ops.size(); i-- > 0;) {
    const auto& readers = dump.readers_of_op(ops[i]);
    unread[i] = !is_dumped(ops[i]) && std::all_of(readers.begin(), readers.end(), [&](OperatorId reader) {
      const auto later = reader > ops[i] ? std::lower_bound(ops.begin(), ops.end(), reader) : ops.end();
      const bool known = later != ops.end() && *later == reader;
      return known ? unread[static_cast<size_t>(later - ops.begin())] : !is_dumped(reader);
    });
  }
  return unread;
}

std::vector<OperatorId> operators_of_same_graph(const CheckedDump& dump, OperatorId op) {
  const std::vector<SequencedOp>& all = dump.operators();
  if (all[op].op == kNoId) return {op};
  const Origin& origin = dump.graph()->origin(all[op].op);
  std::vector<OperatorId> ops;
  const auto of_origin = [&](OperatorId other) {
    return all[other].op - origin.first_operator < origin.graph.nodes.size();  // kNoId is beyond
  };
  OperatorId first = op;
  while (first > 0 && of_origin(OperatorId(first - 1))) first = OperatorId(first - 1);
  for (OperatorId at = first; at < all.size() && of_origin(at); ++at) ops.push_back(at);
  return ops;
}

OperatorId last_in_time(const CheckedDump& dump, const std::vector<OperatorId>& ops, std::optional<int64_t> step) {
  OperatorId last;
  std::pair<uint64_t, RecordId> latest;  // and the tensor
  for (const OperatorId op : ops) {
    for (const RecordId tensor : dump.operators()[op].tensors) {
      if (step && dump.identity(tensor_of(tensor)).step != step) continue;
      const auto time = time_of(dump.record(tensor_of(tensor)).name);
      if (!time || (last != kNoId && std::pair(*time, tensor) < latest)) continue;
      latest = {*time, tensor};
      last = op;
    }
  }
  return last;
}

void judge_operators(RuleContext& context, const TreeInput& tree) { OperatorJudge(context, tree).run(); }

}  // namespace msdump::check
