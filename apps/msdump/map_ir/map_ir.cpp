// msdump map-ir: every operator of the IR with its tensor files, and every file with its operator.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

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

constexpr size_t kUnmatchedShown = 20;

// The summary of the join.
class JoinSummary {
 public:
  explicit JoinSummary(const OpenedGraph& opened) : opened_(opened), counts_(count_joined(opened)) {}

  // parsed, nodes, matched_operators, unmatched_operators, matched_files, unmatched_files.
  [[nodiscard]] report::Object counts() const {
    report::Object counts;
    counts.add("parsed", opened_.loaded->parsed).add("nodes", opened_.loaded->expected);
    counts.add("matched_operators", counts_.matched_operators).add("unmatched_operators", counts_.unmatched_operators);
    counts.add("matched_files", counts_.matched_files).add("unmatched_files", counts_.unmatched_files);
    return counts;
  }

  // numbering, unmatched_files. Files that cannot be read become failures of `opened`.
  [[nodiscard]] report::Object further(const RunContext& context, OpenedGraph& opened) const {
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

  // "parsed 8 of 8; 6 of 7 operators have files, 6 of 6 files have an operator".
  [[nodiscard]] std::string text() const {
    std::string text = fmt::format("parsed {} of {}", opened_.loaded->parsed, opened_.loaded->expected);
    if (!opened_.joined) return text;
    return text + fmt::format("; {} of {} operators have files, {} of {} files have an operator",
                              counts_.matched_operators, counts_.matched_operators + counts_.unmatched_operators,
                              counts_.matched_files, counts_.matched_files + counts_.unmatched_files);
  }

  [[nodiscard]] bool complete() const { return counts_.complete(); }
  [[nodiscard]] bool nothing_selected() const { return counts_.nothing_selected(); }

  void name_unmatched_files(Session& session) const {
    for (size_t i = 0; i < counts_.unmatched_groups.size() && i < kUnmatchedShown; ++i) {
      const TensorGroup& group = opened_.joined->join.groups()[counts_.unmatched_groups[i]];
      const std::string place = group.rank ? fmt::format(" of rank {}", *group.rank) : std::string();
      session.messages.note(fmt::format("{}{}: {}", group.op_name, place, opened_.joined->join.reason(group)));
    }
  }

 private:
  const OpenedGraph& opened_;
  JoinCounts counts_;
};

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
      .answers = true,
      .other_names = {{"ir graph map match"}}};
  return info;
}

std::string type_text(const report::Object& type) {
  const auto* dtype = type.get<std::string>("dtype");
  const auto* shape = type.get<report::List>("shape");
  std::string text = dtype == nullptr ? "?" : *dtype;
  for (size_t i = 0; shape != nullptr && i < shape->size(); ++i)
    text += (i == 0 ? "[" : ",") + std::to_string(*(*shape)[i].get<int64_t>());
  if (shape != nullptr) text += shape->empty() ? "[]" : "]";
  return text;
}

// "float32[2,3], int64[]"
std::string types_cell(const report::Row& row, std::string_view key) {
  std::string text;
  const auto* list = row.get<report::List>(key);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* type = (*list)[i].get<report::Object>();
    if (type != nullptr) text += (text.empty() ? "" : ", ") + type_text(*type);
  }
  return text.empty() ? "-" : text;
}

// {slot, dtype, shape, format}: as on the device if the IR says so, else as on the host.
report::List types_of(const IrGraph& ir, std::span<const uint32_t> host, std::span<const uint32_t> device) {
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

report::Object proof_object(const ProofTally& proof) {
  report::Object object;
  object.add("agreeing", proof.agreeing).add("contradicting", proof.contradicting);
  return object;
}

// A node of an IR, an operator or a parameter.
struct MappedNode {
  const OpenedGraph& opened;
  const Origin& origin;
  const OperatorFiles& files;
  report::Form form;
  report::Value op_name = {}, op_type = {}, scope = {}, ir_line = {}, node = {}, ir_graph = {};
  report::Value source = {}, stack = {}, confidence = {}, reason = {}, proof = {};
  report::List inputs = {}, outputs = {}, originals = {};
};

const report::ObjectType& node_type() {
  static const report::ObjectType type{
      "TensorType",
      "An input or output of a node, as on the device if the IR says so, else as on the host.",
      {{.key = "slot", .type = "integer", .text = "position"},
       {.key = "dtype", .type = "string|null", .text = "element type"},
       {.key = "shape", .type = "integer[]|null", .text = "dimensions"},
       {.key = "format", .type = "string|null", .text = "order of the dimensions"}}};
  return type;
}

const report::ObjectType& proof_type() {
  static const report::ObjectType type{
      "Proof",
      "Inputs that were compared with the outputs of their producers.",
      {{.key = "agreeing", .type = "integer", .text = "inputs with the bytes of the output"},
       {.key = "contradicting", .type = "integer", .text = "inputs with others"}}};
  return type;
}

const report::RowType<MappedNode>& mapped_rows() {
  static const auto key = [](std::string_view name) { return *tensor_type().find(name); };
  static const auto node_key = [](std::string_view name) { return *node_rows().type().find(name); };
  static const auto rows =
      report::RowType<MappedNode>("MappedNode", "A node of the IR and its tensors in the dump.")
          .add(key("rank"), [](const MappedNode& row) -> report::Value { return row.origin.rank; })
          .add(key("graph"), [](const MappedNode& row) -> report::Value { return row.origin.graph_id; })
          .add(key("step"), [](const MappedNode& row) -> report::Value { return row.origin.step; })
          .add(*operator_rows().type().find("op_name"),
               [](const MappedNode& row) -> report::Value { return row.op_name; })
          .add(key("op_type"), [](const MappedNode& row) -> report::Value { return row.op_type; })
          .add({.key = "scope", .type = "string|null", .text = "scope of the operator: the names of its cells"},
               [](const MappedNode& row) -> report::Value { return row.scope; })
          .add(node_key("ir_file"),
               [](const MappedNode& row) -> report::Value { return shown_path(row.opened, row.origin.path); })
          .add(node_key("ir_line"), [](const MappedNode& row) -> report::Value { return row.ir_line; })
          .add(node_key("node"), [](const MappedNode& row) -> report::Value { return row.node; })
          .add(node_key("ir_graph"), [](const MappedNode& row) -> report::Value { return row.ir_graph; })
          .add(source_key(), [](const MappedNode& row) -> report::Value { return row.source; })
          .add(stack_key(), [](const MappedNode& row) -> report::Value { return row.stack; })
          .add({.key = "inputs",
                .type = "object[]",
                .text = "types of the inputs",
                .of = node_type,
                .title = "inputs",
                .cell = types_cell},
               [](const MappedNode& row) -> report::Value { return row.inputs; })
          .add({.key = "outputs",
                .type = "object[]",
                .text = "types of the outputs",
                .of = node_type,
                .title = "outputs",
                .cell = types_cell},
               [](const MappedNode& row) -> report::Value { return row.outputs; })
          .add(files_key(),
               [](const MappedNode& row) -> report::Value { return files_value(row.opened, row.files, row.form); })
          .add({.key = "confidence",
                .type = "number|null",
                .unit = "0..1",
                .text = "that the files are those of the node; null without files",
                .title = "confidence"},
               [](const MappedNode& row) -> report::Value { return row.confidence; })
          .add({.key = "reason",
                .type = "string|null",
                .text = "how the files were found, or why there are none",
                .title = "reason"},
               [](const MappedNode& row) -> report::Value { return row.reason; })
          .add(originals_key(), [](const MappedNode& row) -> report::Value { return row.originals; })
          .add({.key = "proof", .type = "object?", .text = "result of --prove", .of = proof_type},
               [](const MappedNode& row) -> report::Value { return row.proof; });
  return rows;
}

const report::ObjectType& map_summary_type() {
  static const report::ObjectType type{
      "MapSummary",
      "Counts of the join of IR and dump.",
      {{.key = "parsed", .type = "integer", .text = "nodes that were read"},
       {.key = "nodes", .type = "integer", .text = "nodes that the files announce"},
       {.key = "matched_operators", .type = "integer", .text = "operators with tensors in the dump"},
       {.key = "unmatched_operators", .type = "integer", .text = "operators without"},
       {.key = "matched_files", .type = "integer", .text = "files with an operator"},
       {.key = "unmatched_files", .type = "integer", .text = "files without"}}};
  return type;
}

const report::ObjectType& numbering_type() {
  static const report::ObjectType type{
      "Numbering",
      "How the numbers of operators in file names follow from the IR.",
      {{.key = "renumbered", .type = "boolean", .text = "MindSpore renumbered them after it wrote the IR"},
       {.key = "confidence", .type = "number", .unit = "0..1", .text = "that this is right"},
       {.key = "agreeing", .type = "integer", .text = "inputs with the bytes of their producer's output"},
       {.key = "contradicting", .type = "integer", .text = "inputs with others"},
       {.key = "evidence", .type = "string|null", .text = "why, in words"}}};
  return type;
}

const report::ObjectType& unmatched_type() {
  static const report::ObjectType type =
      tensor_type().with("UnmatchedTensor", "A tensor without an operator in the IR.",
                         {{.key = "reason", .type = "string", .text = "why there is none"}});
  return type;
}

class MapIr : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return map_ir_info(); }

  void declare(OptionTable& options) override {
    options.add(graph_options(options_));
    options.add({{.names = "--all",
                  .value = OptionValue::flag(all_),
                  .group = kOutputGroup,
                  .help = "Include nodes without a kernel (Return, MakeTuple, Depend, calls), and parameters"},
                 {.names = "--unmatched",
                  .other_names = "missing",
                  .is_common = true,
                  .value = OptionValue::flag(unmatched_),
                  .group = kOutputGroup,
                  .help = "Only operators without files"},
                 {.names = "--prove",
                  .value = OptionValue::flag(prove_),
                  .group = kOutputGroup,
                  .help = "Compare the bytes of every input with those of its producer's output"},
                 {.names = "--dot",
                  .other_names = "graphviz svg plot",
                  .is_common = true,
                  .value = OptionValue::flag(dot_),
                  .group = kOutputGroup,
                  .help = "Write the graph for Graphviz instead of rows",
                  .excludes = excluded_forms("--dot is a form of its own")},
                 {.names = "--around",
                  .is_common = true,
                  .value = OptionValue::text(around_, "OP"),
                  .group = kOutputGroup,
                  .help = "With --dot: only the neighbourhood of this operator",
                  .needs = {{"dot"}}},
                 {.names = "--depth",
                  .value = OptionValue::number(depth_, 1, kMostHops),
                  .group = kOutputGroup,
                  .help = "With --around: how many operators away [default: 2]"}});
    options.add(report_options(form_));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "map-ir",
             .text = "The nodes of the IR.",
             .row = &mapped_rows().type(),
             .summary = &map_summary_type(),
             .further = {{.key = "numbering",
                          .type = "object?",
                          .text = "with a dump: the numbers of operators",
                          .of = numbering_type},
                         {.key = "unmatched_files",
                          .type = "object[]?",
                          .text = "with a dump: tensors without an operator",
                          .of = unmatched_type}}}};
  }

  ExitCode run(Session& session) override {
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

  // For people: the result of the join or, without a dump, the types.
  static std::vector<report::Column> columns(const OpenedGraph& opened) {
    std::vector<report::Column> columns = mapped_rows().columns(
        {"rank",    "graph",   "step",     "op_type",     "op_name",     "scope",       "node",
         "ir_file", "ir_line", "ir_graph", "source.file", "source.line", "source.code", "source.end_line",
         "stack",   "inputs",  "outputs",  "files",       "confidence",  "reason",      "originals"});
    report::hide(columns, {"source.code"});
    hide_common_places(columns, opened);
    if (opened.catalogue) {
      report::hide(columns, {"inputs", "outputs"});
    } else {
      report::hide(columns, {"files", "confidence", "reason"});
    }
    if (!has_fused_operators(opened)) report::hide(columns, {"originals"});
    return columns;
  }

  static std::string proof_text(const ProofTally& proof) {
    if (proof.all() == 0) return {};
    return fmt::format("; {} of {} inputs equal their producer's output", proof.agreeing, proof.all());
  }
  [[nodiscard]] report::Row row_of(OpenedGraph& opened, OpId op, const OperatorFiles& files) const {
    const OpGraph& graph = opened.graph();
    const IrGraph& ir = graph.ir(op);
    const IrNode& node = graph.node(op);
    const bool is_matched = opened.joined && !opened.joined->join.pairs_of(op).empty();
    const ProofTally* const proof = proofs_.empty() ? nullptr : &proofs_[op];
    const report::Row place = node_rows().row({opened, op});
    const report::Row names = operator_rows().row({opened, op});
    MappedNode row{opened, graph.origin(op), files, form_};
    row.op_name = *names.find("op_name");
    row.op_type = *names.find("op_type");
    row.scope = report::text_or_null(graph.scope(op));
    row.ir_line = *place.find("ir_line");
    row.node = *place.find("node");
    row.ir_graph = *place.find("ir_graph");
    row.source = source_value(best_frame(graph, op) == nullptr ? nullptr : opened.operator_lines().of(op).frame);
    if (!is_for_people(form_)) row.stack = stack_value(stack_of(graph, op));
    row.inputs = types_of(ir, ir.inputs(node.host), ir.inputs(node.device));
    row.outputs = types_of(ir, ir.outputs(node.host), ir.outputs(node.device));
    if (is_matched) row.confidence = proof == nullptr ? files.confidence : proved_confidence(files.confidence, *proof);
    std::string reason;
    if (is_matched) reason = explanation(files.rule);
    if (is_matched && proof != nullptr) reason += proof_text(*proof);
    if (!is_matched && opened.joined) reason = opened.joined->join.reason(op);
    row.reason = report::text_or_null(reason);
    row.originals = originals_value(opened, op, files);
    if (proof != nullptr) row.proof = proof_object(*proof);
    return mapped_rows().row(row);
  }

  // A parameter of the graph and the files of its value at the end of each step.
  [[nodiscard]] report::Row parameter_row(OpenedGraph& opened, uint32_t origin_index, uint32_t place) const {
    const Origin& origin = opened.graph().origins()[origin_index];
    const IrGraph& ir = origin.graph;
    const IrParameter& parameter = ir.parameters[place];
    OperatorFiles files;
    if (opened.joined)
      files = files_of_groups(opened, opened.joined->join.groups_of_parameter(origin_index, place), Detail::kHeaders);
    std::vector<uint32_t> host, device;
    if (parameter.host != kNoIndex) host.push_back(parameter.host);
    if (parameter.device != kNoIndex) device.push_back(parameter.device);
    MappedNode node{opened, origin, files, form_};
    node.op_name = ir.text(parameter.name);
    node.op_type = "Parameter";
    node.ir_line = parameter.line;
    node.node = "%" + std::string(ir.text(parameter.text));
    if (parameter.graph != kNoIndex) node.ir_graph = ir.text(ir.graphs[parameter.graph].name);
    node.stack = report::List();
    node.outputs = types_of(ir, host, device);
    if (!files.tensors.empty()) node.confidence = files.confidence;
    node.reason = explanation(JoinRule::kParameter);
    report::Row row = mapped_rows().row(node);
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
    report::Object further = has_document(form_) ? summary.further(session.context, opened) : report::Object();
    (void)sink->finish({summary.counts(), graph_failure_objects(opened), std::move(further)});
    return rows;
  }

  size_t print_operators(Session& session, report::RowSink& sink, OpenedGraph& opened) const {
    std::vector<OpId> ops;
    for (OpId op{0}; op < opened.graph().size(); ++op) {
      if (wanted(opened, op)) ops.push_back(op);
    }
    size_t rows = 0;
    for_each_operator_files(opened, ops, Detail::kHeaders, session.context, [&](size_t i, const OperatorFiles& files) {
      ++rows;
      return sink.row(row_of(opened, ops[i], files)).has_value();  // the stream remembers why not
    });
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
    if (unmatched_ && is_for_people(form_)) summary.name_unmatched_files(session);
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
