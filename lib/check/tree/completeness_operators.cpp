// Operators without tensors, tensors without operators, and a run that ended between two operators.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/completeness.h"
#include "compare/match/op_sequence.h"
#include "graph/op_name.h"
#include "io/dir_walk.h"

namespace msdump::check {
namespace {

using Number = std::optional<int64_t>;

// So many operators behind the last one that was dumped are no coincidence.
constexpr size_t kShortestTail = 4;

// The operators of one graph in their order, and which of them were dumped.
struct Expected {
  std::string path;  // of what says so
  std::vector<std::string> names;
  std::vector<uint32_t> ops;  // CheckedDump::operators(); empty when the IR does not tell
  std::vector<bool> dumped;
};

class OperatorJudge {
 public:
  OperatorJudge(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings)
      : input_(input), index_(input.dump.index()), rules_(rules), findings_(findings) {}

  void run() {
    const bool from_ir = input_.dump.has_flow();
    if (!input_.settings.of_some_operators()) {
      for (const auto& [graph, expected] : from_ir ? of_ir() : of_execution_orders()) judge(graph, expected);
    }
    if (from_ir) judge_unexplained();
    judge_partial();
  }

 private:
  using Graph = std::pair<Number, Number>;  // rank, graph

  std::map<Graph, Expected> of_ir() const {
    std::map<Graph, Expected> graphs;
    std::set<Graph> with_tensors;
    for (const SequencedOp& op : input_.dump.operators()) {
      if (op.op == kNoIndex) continue;
      const Origin& origin = input_.dump.graph()->origin(op.op);
      Expected& expected = graphs[{op.rank, op.graph}];
      expected.path = origin.path;
      expected.names.push_back(op.name);
      expected.ops.push_back(static_cast<uint32_t>(&op - input_.dump.operators().data()));
      expected.dumped.push_back(!op.tensors.empty());
      if (!op.tensors.empty()) with_tensors.emplace(op.rank, op.graph);
    }
    std::erase_if(graphs, [&](const auto& one) { return with_tensors.count(one.first) == 0 || !explains(one.first); });
    return graphs;
  }

  // Is the IR that of what was dumped in its graph?
  [[nodiscard]] bool explains(const Graph& graph) const {
    const ExplainedGroups groups = input_.dump.join()->explained([&](const TensorGroup& group) {
      return (!group.rank || group.rank == graph.first) && (!group.graph || group.graph == graph.second);
    });
    return groups.all > 0 && groups.mostly();
  }

  // Without an IR: names without their numbers, which may be new ones in the files.
  std::map<Graph, Expected> of_execution_orders() const {
    std::map<Graph, Expected> graphs;
    for (const OperatorOrder& order : input_.orders.operators) {
      const Graph graph{order.rank, order.graph};
      Expected expected;
      expected.path = order.path;
      expected.names = order.names;
      expected.dumped.assign(expected.names.size(), false);
      if (mark_dumped(graph, expected)) graphs.emplace(graph, std::move(expected));
    }
    return graphs;
  }

  // The n-th operator of a name was dumped if n of that name were. False when nothing of the graph was.
  bool mark_dumped(const Graph& graph, Expected& expected) const {
    std::map<std::string, size_t, std::less<>> left;
    const auto key_of = [](std::string_view name) {
      std::string key = normalised_op_name(name_without_numbers(name));
      const size_t slash = name.rfind('/');
      return std::pair(key, normalised_op_name(
                                name_without_numbers(slash == std::string_view::npos ? name : name.substr(slash + 1))));
    };
    for (const SequencedOp& op : input_.dump.operators()) {
      const bool same = op.rank == graph.first && (!op.graph || op.graph == graph.second) && op.type != "Parameter";
      if (same && !op.tensors.empty()) ++left[key_of(op.name).first];
    }
    bool any = false;
    for (size_t i = 0; i < expected.names.size(); ++i) {
      const auto [full, leaf] = key_of(expected.names[i]);
      auto found = left.find(full);
      if (found == left.end()) found = left.find(leaf);
      if (found == left.end() || found->second == 0) continue;
      --found->second;
      expected.dumped[i] = any = true;
    }
    return any;
  }

  void judge(const Graph& graph, const Expected& expected) {
    const auto missing = static_cast<size_t>(std::count(expected.dumped.begin(), expected.dumped.end(), false));
    if (missing == 0) return;
    const std::vector<bool> ended = ended_of(expected);
    const auto behind = static_cast<size_t>(std::count(ended.begin(), ended.end(), true));
    const size_t all = expected.dumped.size();
    const bool stopped = behind >= kShortestTail && behind * 50 >= all && (missing - behind) * 10 <= all;
    if (stopped && rules_.on(RuleId::kStopped)) {
      const auto first = static_cast<size_t>(std::find(ended.begin(), ended.end(), true) - ended.begin());
      std::string message =
          fmt::format("{} of {} have no tensor, and nothing that was dumped has read them: from {} on", behind,
                      plural(all, "operator"), expected.names[first]);
      const std::string last = last_of(expected);
      if (!last.empty()) message += fmt::format("; the last one dumped is {}", last);
      Finding finding = tree_finding(rules_, RuleId::kStopped, std::move(message));
      finding.hint =
          "the process ended or the disk was full before the step was over; if the run goes on, it is still being "
          "written";
      finding.value = behind;
      return add(std::move(finding), graph, expected.path);
    }
    if (!rules_.on(RuleId::kMissingFiles)) return;
    std::vector<std::string> names;
    for (size_t i = 0; i < expected.names.size(); ++i) {
      if (!expected.dumped[i]) names.push_back(expected.names[i]);
    }
    Finding finding = tree_finding(rules_, RuleId::kMissingFiles,
                                   fmt::format("{} of {} without a tensor: {}", missing,
                                               plural(expected.dumped.size(), "operator"), first_names(names)));
    // So many are more than have no kernel.
    if (input_.settings.dump_mode == 0 && missing * 5 >= all)
      finding.severity = std::max(finding.severity, Severity::kWarning);
    finding.value = missing;
    finding.hint =
        "without a kernel of its own (a Reshape), fused, in a branch not taken, or not selected (dump_mode, "
        "kernels); msdump map-ir --unmatched lists all";
    add(std::move(finding), graph, expected.path);
  }

  [[nodiscard]] std::vector<bool> ended_of(const Expected& expected) const {
    std::vector<bool> ended(expected.dumped.size(), false);
    if (expected.ops.empty()) {
      for (size_t i = ended.size(); i-- > 0 && !expected.dumped[i];) ended[i] = true;
      return ended;
    }
    std::vector<bool> dumped(input_.dump.operators().size(), false);
    for (size_t i = 0; i < expected.ops.size(); ++i) dumped[expected.ops[i]] = expected.dumped[i];
    const std::vector<bool> unread = unread_of_missing(input_.dump, dumped);
    for (size_t i = 0; i < expected.ops.size(); ++i) ended[i] = unread[expected.ops[i]];
    return ended;
  }

  [[nodiscard]] std::string last_of(const Expected& expected) const {
    if (expected.ops.empty()) {
      const auto last = std::find(expected.dumped.rbegin(), expected.dumped.rend(), true);
      return expected.names[static_cast<size_t>(expected.dumped.rend() - last) - 1];
    }
    std::vector<bool> ops(input_.dump.operators().size(), false);
    for (const uint32_t op : expected.ops) ops[op] = true;
    const uint32_t last = last_in_time(input_.dump, ops, std::nullopt);
    return last == kNone ? std::string() : input_.dump.operators()[last].name;
  }

  void add(Finding&& finding, const Graph& graph, const std::string& path = {}) {
    finding.path = relative_to_any(index_.paths(), path);
    finding.rank = graph.first;
    finding.graph = graph.second;
    findings_.push_back(std::move(finding));
  }

  void judge_unexplained() {
    if (!rules_.on(RuleId::kUnexplainedFiles)) return;
    const FileJoin& join = *input_.dump.join();
    std::map<std::tuple<Number, Number, std::string>, std::vector<std::string>> found;
    for (const TensorGroup& group : join.groups()) {
      if (join.rule_of(group) != JoinRule::kUnmatched || group.parameter) continue;
      found[{group.rank, group.graph, join.reason(group)}].emplace_back(group.op_name);
    }
    for (const auto& [key, names] : found) {
      const auto& [rank, graph, reason] = key;
      Finding finding = tree_finding(rules_, RuleId::kUnexplainedFiles,
                                     fmt::format("tensors of {} that the IR does not explain: {}; {}",
                                                 plural(names.size(), "operator"), first_names(names), reason));
      finding.value = names.size();
      add(std::move(finding), {rank, graph});
    }
  }

  void judge_partial() {
    if (!rules_.on(RuleId::kPartialDump)) return;
    size_t with_inputs = 0, with_outputs = 0;
    for (uint32_t tensor = 0; tensor < input_.dump.tensors(); ++tensor) {
      const NameFacts& name = input_.dump.record(tensor).name;
      if (input_.dump.run_of(tensor) == kNone && input_.dump.role(tensor) != TensorRole::kUnwritten) continue;
      (name.io == Io::kInput ? with_inputs : with_outputs) += 1;
    }
    const auto add_note = [&](std::string message, std::string hint) {
      Finding finding = tree_finding(rules_, RuleId::kPartialDump, std::move(message));
      finding.path = input_.settings.path;
      finding.hint = std::move(hint);
      findings_.push_back(std::move(finding));
    };
    if (with_inputs > 0 && with_outputs == 0)
      add_note("only inputs were dumped: what an operator made shows where the next one reads it",
               "input_output 0 (msprobe: data_mode all) dumps both");
    if (with_outputs > 0 && with_inputs == 0)
      add_note("only outputs were dumped: what went into an operator shows only where it was made",
               "input_output 0 (msprobe: data_mode all) dumps both");
    if (input_.settings.dump_mode == 1 || input_.settings.dump_mode == 2)
      add_note(fmt::format("only some operators were dumped (dump_mode {})", *input_.settings.dump_mode),
               "dump_mode 0 dumps all");
  }

  const CompletenessInput& input_;
  const DumpIndex& index_;
  const RuleSet& rules_;
  std::vector<Finding>& findings_;
};

}  // namespace

std::vector<bool> unread_of_missing(const CheckedDump& dump, const std::vector<bool>& dumped) {
  // Readers stand behind what they read.
  std::vector<bool> unread(dumped.size(), false);
  for (size_t op = dumped.size(); op-- > 0;) {
    const auto& readers = dump.readers_of_op(static_cast<uint32_t>(op));
    unread[op] = !dumped[op] && std::all_of(readers.begin(), readers.end(), [&](uint32_t reader) {
      return reader <= op ? !dumped[reader] : unread[reader];
    });
  }
  return unread;
}

uint32_t last_in_time(const CheckedDump& dump, const std::vector<bool>& ops, std::optional<int64_t> step) {
  uint32_t last = kNone;
  uint64_t latest = 0;
  for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) {
    const uint32_t op = dump.op_of(tensor);
    if (op == kNone || !ops[op]) continue;
    if (step && dump.identity(tensor).step != step) continue;
    const auto time = parse_u64(dump.record(tensor).name.timestamp);
    if (!time || *time < latest) continue;
    latest = *time;
    last = op;
  }
  return last;
}

void judge_operators(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  OperatorJudge(input, rules, findings).run();
}

}  // namespace msdump::check
