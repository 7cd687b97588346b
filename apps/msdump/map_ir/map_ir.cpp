#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "frame/usage.h"
#include "graph/flow/dot.h"
#include "graph/lines/source_lines.h"
#include "graph/opened_graph.h"
#include "report/value.h"
#include "shared/opened_graph.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

// The summary of msdump map-ir about the join.
class JoinSummary {
 public:
  explicit JoinSummary(const OpenedGraph& opened);

  // parsed, nodes, matched_operators, unmatched_operators, matched_files, unmatched_files.
  [[nodiscard]] report::Object counts() const;
  // numbering, unmatched_files. Files that cannot be read become failures of `opened`.
  [[nodiscard]] report::Object further(const RunContext& context, OpenedGraph& opened) const;
  // "parsed 8 of 8; 6 of 7 operators have files, 6 of 6 files have an operator".
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool complete() const { return counts_.complete(); }
  [[nodiscard]] bool nothing_selected() const { return counts_.nothing_selected(); }

  void name_unmatched_files(Session& session) const;

 private:
  const OpenedGraph& opened_;
  JoinCounts counts_;
};

constexpr size_t kUnmatchedShown = 20;

JoinSummary::JoinSummary(const OpenedGraph& opened) : opened_(opened), counts_(count_joined(opened)) {}

report::Object JoinSummary::counts() const {
  report::Object counts;
  counts.add("parsed", opened_.loaded->parsed).add("nodes", opened_.loaded->expected);
  counts.add("matched_operators", counts_.matched_operators).add("unmatched_operators", counts_.unmatched_operators);
  counts.add("matched_files", counts_.matched_files).add("unmatched_files", counts_.unmatched_files);
  return counts;
}

report::Object JoinSummary::further(const RunContext& context, OpenedGraph& opened) const {
  report::Object further;
  if (!opened_.joined) return further;
  const Numbering& choice = opened_.joined->join.numbering();
  report::Object numbering;
  numbering.add("renumbered", choice.renumbered).add("confidence", choice.confidence);
  numbering.add("agreeing", choice.agreeing).add("contradicting", choice.contradicting);
  numbering.add("evidence", choice.evidence.empty() ? report::Value() : report::Value(choice.evidence));
  further.add("numbering", std::move(numbering));
  report::List unmatched;
  const FileJoin& join = opened_.joined->join;
  context.pool.ordered_for(
      static_cast<int64_t>(counts_.unmatched_groups.size()),
      [&](int64_t i) {
        if (context.cancel.cancelled()) return OperatorFiles();
        return files_of_groups(opened_, {counts_.unmatched_groups[static_cast<size_t>(i)]}, Detail::kHeaders);
      },
      [&](int64_t i, OperatorFiles&& files) {
        opened.add_failures(std::move(files.failures));
        const std::string reason = join.reason(join.groups()[counts_.unmatched_groups[static_cast<size_t>(i)]]);
        for (const TensorRecord& tensor : files.tensors) {
          report::Object file = identity_object(opened_.catalogue->index, tensor);
          file.add("reason", reason);
          unmatched.emplace_back(std::move(file));
        }
      });
  further.add("unmatched_files", std::move(unmatched));
  return further;
}

std::string JoinSummary::text() const {
  std::string text = fmt::format("parsed {} of {}", opened_.loaded->parsed, opened_.loaded->expected);
  if (!opened_.joined) return text;
  return text + fmt::format("; {} of {} operators have files, {} of {} files have an operator",
                            counts_.matched_operators, counts_.matched_operators + counts_.unmatched_operators,
                            counts_.matched_files, counts_.matched_files + counts_.unmatched_files);
}

void JoinSummary::name_unmatched_files(Session& session) const {
  for (size_t i = 0; i < counts_.unmatched_groups.size() && i < kUnmatchedShown; ++i) {
    const TensorGroup& group = opened_.joined->join.groups()[counts_.unmatched_groups[i]];
    const std::string place = group.rank ? fmt::format(" of rank {}", *group.rank) : std::string();
    session.messages.note(fmt::format("{}{}: {}", group.op_name, place, opened_.joined->join.reason(group)));
  }
}

}  // namespace

// msdump map-ir: every operator of the IR with its tensor files, and every file with its operator.

namespace {

constexpr uint32_t kMostHops = 1000;

const CommandInfo& map_ir_info() {
  static const CommandInfo info{
      .name = "map-ir",
      .order = 41,
      .summary = "the operators of the IR, their lines and their tensor files",
      .usage = "-d DUMP [--ir PATH] [--all] [--unmatched] [--prove] [OPTIONS]",
      .description =
          "Lists every operator of the IR with its type, types of inputs and outputs, source line and tensor files "
          "in the dump, the confidence of the join, and a reason for everything without a partner. MindSpore 2.7 "
          "and later renumber operators after they write the IR beside a dump; msdump computes the new numbers, and "
          "checks them by the bytes along the data flow if there are any.",
      .examples = {{"msdump map-ir -d dump", "the operators of a dump with their lines and files"},
                   {"msdump map-ir -d dump --unmatched", "what has no partner, and why"},
                   {"msdump map-ir --ir rank_0/graphs --all --csv", "an IR as a table, without a dump"},
                   {"msdump map-ir -d dump --dot --around Conv2D-op3 --depth 2 | dot -Tsvg > conv.svg",
                    "the neighbourhood of an operator as a picture"}},
      .done = "done; all operators with a kernel have files, or there is no dump",
      .no = "done, but some operator or file has no partner, or the selection matched nothing",
      .answers = true};
  return info;
}

class MapIr : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return map_ir_info(); }

  void declare(CLI::App& app) override {
    add_graph_options(app, options_);
    app.add_flag("--all", all_, "Include nodes without a kernel (Return, MakeTuple, Depend, calls), and parameters")
        ->group(kOutputGroup);
    app.add_flag("--unmatched", unmatched_, "Only operators without files")->group(kOutputGroup);
    app.add_flag("--prove", prove_, "Compare the bytes of every input with those of its producer's output")
        ->group(kOutputGroup);
    app.add_flag("--dot", dot_, "Write the graph for Graphviz instead of rows")->group(kOutputGroup);
    app.add_option("--around", around_, "With --dot: only the neighbourhood of this operator")
        ->type_name("OP")
        ->group(kOutputGroup);
    add_number(app, "--depth", depth_, 1, kMostHops, "With --around: how many operators away [default: 2]")
        ->group(kOutputGroup);
    add_report_options(app, form_);
  }

  ExitCode run(Session& session) override {
    if (dot_ && form_ != report::Form::kTable) throw UsageError("--dot is a form of its own; it goes with no other");
    if (!around_.empty() && !dot_) throw UsageError("--around goes with --dot only");
    Result<OpenedGraph> opened = open_graph(session.context, options_, {});
    if (!opened) return session.end_with(opened.error());
    if (opened->graph().size() == 0) {
      if (!dot_) (void)print_report(session, *opened, JoinSummary(*opened));
      return end_without_graph(session, *opened);
    }
    if (dot_) return print_dot(session, *opened);
    if (prove_ && !opened->joined) throw UsageError("--prove compares the bytes of a dump; name it with -d");
    if (prove_) proofs_ = opened->prove(session.context);
    if (session.context.cancel.cancelled()) return ExitCode::kOk;  // the frame turns the signal into the code
    return print_rows(session, *opened);
  }

 private:
  [[nodiscard]] bool wanted(const OpenedGraph& opened, OpId op) const {
    if (!all_ && !opened.graph().has_kernel(op)) return false;
    if (unmatched_ && opened.joined && !opened.joined->join.pairs_of(op).empty()) return false;
    return opened.selects(op);
  }

  ExitCode print_dot(Session& session, const OpenedGraph& opened) const {
    const OpGraph& graph = opened.graph();
    std::vector<OpId> centre;
    if (!around_.empty()) {
      centre = operators_named(graph, around_);
      if (centre.empty()) {
        const std::string near = nearest_operator(graph, around_, OperatorText::kName);
        session.messages.error(
            ErrorCode::kNotFound, fmt::format("no operator is called '{}'", excerpt(around_)),
            near.empty() ? "msdump map-ir lists all" : fmt::format("did you mean '{}'?", escape_for_terminal(near)));
        return ExitCode::kNo;
      }
    }
    const std::string text = dot_text(graph, centre, depth_, [&](OpId op) { return dot_label(opened, op); });
    (void)session.out.write(text);
    return report_graph_failures(session, opened) ? ExitCode::kSomeFailed : ExitCode::kOk;
  }

  static std::string dot_label(const OpenedGraph& opened, OpId op) {
    const OpGraph& graph = opened.graph();
    std::string label = fmt::format("{}\n{}", graph.op_type(op), graph.leaf(op));
    if (const SourceFrame* frame = best_frame(graph, op)) label += "\n" + source_text(frame);
    return label;
  }

  // "float32[2,3], int64[]"
  static std::string types_cell(const report::Row& row, const char* key) {
    std::string text;
    const auto* list = row.get<report::List>(key);
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto* type = (*list)[i].get<report::Object>();
      if (type != nullptr) text += (text.empty() ? "" : ", ") + type_text(*type);
    }
    return text.empty() ? "-" : text;
  }
  static std::string type_text(const report::Object& type) {
    const auto* dtype = type.get<std::string>("dtype");
    const auto* shape = type.get<report::List>("shape");
    std::string text = dtype == nullptr ? "?" : *dtype;
    for (size_t i = 0; shape != nullptr && i < shape->size(); ++i)
      text += (i == 0 ? "[" : ",") + std::to_string(*(*shape)[i].get<int64_t>());
    if (shape != nullptr) text += shape->empty() ? "[]" : "]";
    return text;
  }

  // For people: the result of the join or, without a dump, the types.
  static std::vector<report::Column> columns(const OpenedGraph& opened) {
    const bool of_dump = opened.catalogue.has_value();
    const auto shown = [&](const char* title) { return std::string(of_dump ? title : ""); };
    std::vector<report::Column> columns{
        op_type_column(),
        {"op_name", "op name"},
        {"scope", ""},
        {"node", ""},
        {"ir_file", ""},
        {"ir_line", ""},
        {"ir_graph", ""},
        {"source.file", "line", source_cell},
        {"source.line", ""},
        {"source.code", ""},
        {"source.end_line", ""},
        {"stack", ""},
        {"inputs", of_dump ? "" : "inputs", [](const report::Row& row) { return types_cell(row, "inputs"); }},
        {"outputs", of_dump ? "" : "outputs", [](const report::Row& row) { return types_cell(row, "outputs"); }},
        {"files", shown("tensors")},
        {"confidence", shown("confidence")},
        {"reason", shown("reason")},
        originals_column(opened)};
    const std::vector<report::Column> places = place_columns(opened);
    columns.insert(columns.begin(), places.begin(), places.end());
    return columns;
  }

  static std::string proof_text(const ProofTally& proof) {
    if (proof.all() == 0) return {};
    return fmt::format("; {} of {} inputs equal their producer's output", proof.agreeing, proof.all());
  }
  static report::Object proof_object(const ProofTally& proof) {
    report::Object object;
    object.add("agreeing", proof.agreeing).add("contradicting", proof.contradicting);
    return object;
  }

  // {slot, dtype, shape, format}: as on the device if the IR says so, else as on the host.
  static report::List types_of(const IrGraph& ir, std::span<const uint32_t> host, std::span<const uint32_t> device) {
    report::List list;
    const auto shown = device.empty() ? host : device;
    for (const uint32_t index : shown) {
      const IrType& type = ir.types[index];
      if (type.is_monad) continue;
      report::Object object;
      const auto dtype = type.known_dtype();
      object.add("slot", list.size()).add("dtype", dtype ? report::Value(msdump::name_of(*dtype)) : report::Value());
      object.add("shape", type.shape ? report::Value(report::list_of(*type.shape)) : report::Value());
      object.add("format", type.format.empty() ? report::Value() : report::Value(type.format));
      list.emplace_back(std::move(object));
    }
    return list;
  }

  [[nodiscard]] report::Object row_of(const OpenedGraph& opened, OpId op, const OperatorFiles& files) const {
    const OpGraph& graph = opened.graph();
    const IrGraph& ir = graph.ir(op);
    const IrNode& node = graph.node(op);
    report::Object row = operator_object(opened, op);
    const std::string_view scope = graph.scope(op);
    row.add("scope", scope.empty() ? report::Value() : report::Value(scope));
    add_place(row, opened, op);
    row.add("source", source_value(best_frame(graph, op)));
    row.add("stack", form_ == report::Form::kTable ? report::Value() : stack_value(stack_of(graph, op)));
    row.add("inputs", types_of(ir, ir.inputs(node.host), ir.inputs(node.device)));
    row.add("outputs", types_of(ir, ir.outputs(node.host), ir.outputs(node.device)));
    row.add("files", files_value(opened, files, form_));
    const bool matched = opened.joined && !opened.joined->join.pairs_of(op).empty();
    const ProofTally* const proof = proofs_.empty() ? nullptr : &proofs_[op];
    const double confidence = proof == nullptr ? files.confidence : proved_confidence(files.confidence, *proof);
    row.add("confidence", matched ? report::Value(confidence) : report::Value());
    std::string reason;
    if (matched) reason = explanation(files.rule);
    if (matched && proof != nullptr) reason += proof_text(*proof);
    if (!matched && opened.joined) reason = opened.joined->join.reason(op);
    row.add("reason", reason.empty() ? report::Value() : report::Value(reason));
    add_originals(row, opened, op, files);
    if (proof != nullptr) row.add("proof", proof_object(*proof));
    return row;
  }

  // A parameter of the graph and the files of its value at the end of each step.
  [[nodiscard]] report::Object parameter_row(OpenedGraph& opened, uint32_t origin_index, uint32_t place) const {
    const Origin& origin = opened.graph().origins()[origin_index];
    const IrGraph& ir = origin.graph;
    const IrParameter& parameter = ir.parameters[place];
    OperatorFiles files;
    if (opened.joined)
      files = files_of_groups(opened, opened.joined->join.groups_of_parameter(origin_index, place), Detail::kHeaders);
    report::Object row;
    row.add("rank", origin.rank).add("graph", origin.graph_id).add("step", origin.step);
    row.add("op_name", ir.text(parameter.name)).add("op_type", "Parameter").add("scope", report::Value());
    row.add("ir_file", shown_path(opened, origin.path)).add("ir_line", parameter.line);
    row.add("node", "%" + std::string(ir.text(parameter.text)));
    row.add("ir_graph",
            parameter.graph == kNoIndex ? report::Value() : report::Value(ir.text(ir.graphs[parameter.graph].name)));
    row.add("source", report::Value()).add("stack", report::List());
    std::vector<uint32_t> host, device;
    if (parameter.host != kNoIndex) host.push_back(parameter.host);
    if (parameter.device != kNoIndex) device.push_back(parameter.device);
    row.add("inputs", report::List()).add("outputs", types_of(ir, host, device));
    row.add("files", files_value(opened, files, form_));
    row.add("confidence", files.tensors.empty() ? report::Value() : report::Value(files.confidence));
    row.add("reason", explanation(JoinRule::kParameter)).add("originals", report::List());
    opened.add_failures(std::move(files.failures));
    return row;
  }

  ExitCode print_rows(Session& session, OpenedGraph& opened) const {
    const JoinSummary summary(opened);
    const size_t rows = print_report(session, opened, summary);
    return conclude(session, opened, rows, summary);
  }

  size_t print_report(Session& session, OpenedGraph& opened, const JoinSummary& summary) const {
    const auto sink = session.open_report(form_, dumps_of(opened), columns(opened));
    size_t rows = print_operators(session, *sink, opened);
    if (all_ && !unmatched_ && opened.operators.everything()) rows += print_parameters(*sink, opened);
    // Other forms do not show it.
    report::Object further = form_ == report::Form::kJson ? summary.further(session.context, opened) : report::Object();
    (void)sink->finish({summary.counts(), graph_failure_objects(opened), std::move(further)});
    return rows;
  }

  // Operators whose files are read together: few enough that waiting rows take little memory.
  [[nodiscard]] std::vector<std::vector<OpId>> pieces(const OpenedGraph& opened) const {
    constexpr size_t kMostOperators = 64, kMostTensors = 1000;
    std::vector<std::vector<OpId>> result(1);
    size_t tensors = 0;
    for (OpId op = 0; op < opened.graph().size(); ++op) {
      if (!wanted(opened, op)) continue;
      if (result.back().size() >= kMostOperators || tensors >= kMostTensors) {
        result.emplace_back();
        tensors = 0;
      }
      result.back().push_back(op);
      if (!opened.joined) continue;
      for (const JoinPair& pair : opened.joined->join.pairs_of(op))
        tensors += opened.joined->join.groups()[pair.group].count;
    }
    return result;
  }

  // Headers are read in parallel.
  size_t print_operators(Session& session, report::RowSink& sink, OpenedGraph& opened) const {
    constexpr int64_t kMostWaiting = 16;
    const std::vector<std::vector<OpId>> todo = pieces(opened);
    size_t rows = 0;
    bool closed = false;  // the stream remembers why
    session.context.pool.ordered_for(
        static_cast<int64_t>(todo.size()),
        [&](int64_t piece) {
          std::vector<OperatorFiles> files;
          for (const OpId op : todo[static_cast<size_t>(piece)]) {
            if (session.context.cancel.cancelled()) break;
            files.push_back(files_of(opened, op, Detail::kHeaders));
          }
          return files;
        },
        [&](int64_t piece, std::vector<OperatorFiles>&& files) {
          for (size_t i = 0; i < files.size() && !closed && !session.context.cancel.cancelled(); ++i) {
            closed = !sink.row(row_of(opened, todo[static_cast<size_t>(piece)][i], files[i]));
            opened.add_failures(std::move(files[i].failures));
            ++rows;
          }
        },
        kMostWaiting);
    return rows;
  }

  size_t print_parameters(report::RowSink& sink, OpenedGraph& opened) const {
    size_t rows = 0;
    for (uint32_t origin = 0; origin < opened.graph().origins().size(); ++origin) {
      if (!opened.selects(opened.graph().origins()[origin])) continue;
      const IrGraph& ir = opened.graph().origins()[origin].graph;
      for (uint32_t place = 0; place < ir.parameters.size(); ++place) {
        ++rows;
        if (!sink.row(parameter_row(opened, origin, place))) return rows;
      }
    }
    return rows;
  }

  ExitCode conclude(Session& session, const OpenedGraph& opened, size_t rows, const JoinSummary& summary) const {
    const bool failed = report_graph_failures(session, opened);
    if (unmatched_ && form_ == report::Form::kTable) summary.name_unmatched_files(session);
    session.messages.summary(summary.text());
    if (failed) return ExitCode::kSomeFailed;
    if (rows == 0 && (!unmatched_ || summary.nothing_selected())) {
      const std::string hint = selection_hint(opened, options_.selection);
      session.messages.nothing_selected("the selection matches no operator",
                                        hint.empty() ? "msdump map-ir without selection shows all" : hint);
      return ExitCode::kNo;
    }
    return summary.complete() ? ExitCode::kOk : ExitCode::kNo;
  }

  GraphOptions options_;
  bool all_ = false, unmatched_ = false, prove_ = false, dot_ = false;
  std::string around_;
  uint32_t depth_ = 2;
  std::vector<ProofTally> proofs_;  // by operator; empty without --prove
  report::Form form_ = report::Form::kTable;
};

const Registration kMapIrCommand{[] { return std::make_unique<MapIr>(); }};

}  // namespace

}  // namespace msdump::cli
