#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "checkpoint/shards.h"
#include "ge/graph/ge_graph.h"
#include "info/fact_readers.h"
#include "ir/model/scan.h"
#include "ir/protobuf/protobuf_value.h"
#include "ir/text/ir_text.h"

namespace msdump {

// The head lines of IR text: enough to say which graph it is.
//
//   # IR entry: @kernel_graph0          (MindSpore 2; "#IR entry      : @..." in 1.x)
//   # Total subgraphs: 1                ("#Total subgraph : 1")
//   # Total params: 28
// They stand in the first lines; what follows is not read here.

namespace {

// The value of a line "# NAME : VALUE"; none for other lines.
std::optional<std::string_view> value_after(std::string_view line, std::string_view name) {
  if (!line.starts_with('#')) return std::nullopt;
  line = trim(line.substr(1));
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !trim(line.substr(0, colon)).starts_with(name)) return std::nullopt;
  return trim(line.substr(colon + 1));
}

// An error for a text without any line of IR, and for a protobuf that does not begin as one.
std::optional<Error> not_ir(const FactSource& source, FileKind kind, std::string_view head) {
  if (kind == FileKind::kIrProtobuf) {
    auto graph = find_ir_graph(head);
    // The head of a large file ends inside its graph.
    const bool cut = !graph && graph.error().code == ErrorCode::kTruncated && source.file.size() > head.size();
    if (graph || cut) return std::nullopt;
    return std::move(graph).error();
  }
  const IrKind found = ir_kind(head);
  if (found.word == "ir_text" || found.word == "ir_protobuf") return std::nullopt;
  return make_error(ErrorCode::kBadIr, "this is not IR text: {}", found.explanation);
}

}  // namespace

void add_ir_facts(const FactSource& source, FileFacts& facts) {
  report::Value entry, subgraphs, parameters;
  const std::string_view head = head_text(source);
  for (const std::string_view line : split(head, '\n')) {
    if (const auto value = value_after(line, "IR entry"); value && entry.is_null()) entry = *value;
    if (const auto value = value_after(line, "Total subgraph"); value && subgraphs.is_null())
      subgraphs = parse_u64(*value);
    if (const auto value = value_after(line, "Total params"); value && parameters.is_null())
      parameters = parse_u64(*value);
  }
  if (auto problem = not_ir(source, facts.kind, head)) facts.problems.push_back(std::move(*problem));
  if (facts.kind == FileKind::kIrProtobuf) return;
  facts.add("entry", std::move(entry)).add("subgraphs", std::move(subgraphs));
  facts.add("parameters", std::move(parameters));
}

// Graphs of GE: the whole file is read, which is as fast as looking for its lines.

namespace {

struct GeCounts {
  uint64_t edges = 0, originals = 0, fused = 0;
};

GeCounts count_ge(const IrGraph& ir) {
  GeCounts counts;
  for (const IrNode& node : ir.nodes) {
    for (const IrOperand& operand : ir.operands_of(node))
      counts.edges += operand.kind == IrOperand::Kind::kNode ? 1U : 0U;
    const auto originals = ir.originals(node);
    if (!originals) continue;
    counts.originals += originals->size();
    counts.fused += originals->size() > 1 ? 1U : 0U;
  }
  return counts;
}

}  // namespace

void add_ge_facts(const FactSource& source, FileFacts& facts) {
  report::Value form, stage, graphs, operators, edges, originals, fused;
  if (const auto found = ge_form(head_text(source))) form = name_of(*found);
  const auto name = ge_file_name(source.indexed.shown_name());
  if (name && !name->stage.empty()) stage = name->stage;
  const auto ir = read_ge_graph(source.file);
  if (ir) {
    const GeCounts counts = count_ge(*ir);
    graphs = ir->graphs.size();
    operators = ir->nodes.size();
    edges = counts.edges;
    originals = counts.originals;
    fused = counts.fused;
    facts.problems = errors_of(ir->problems, source.file.path());
  } else {
    facts.problems.push_back(ir.error());
  }
  facts.add("form", std::move(form)).add("stage", std::move(stage)).add("graphs", std::move(graphs));
  facts.add("operators", std::move(operators)).add("edges", std::move(edges));
  facts.add("originals", std::move(originals)).add("fused", std::move(fused));
}

// Facts of the index of a checkpoint in several files, which are read for what they hold.

namespace {

Error problem_of(const ShardFault& fault) {
  const bool missing = fault.kind == ShardFaultKind::kMissingFile || fault.kind == ShardFaultKind::kMissing;
  const ErrorCode code = fault.problem ? fault.problem->code : missing ? ErrorCode::kNotFound : ErrorCode::kBadHeader;
  return make_error(code, "{}: {}", fault.file, fault.text);
}

}  // namespace

void add_shard_index_facts(const FactSource& source, FileFacts& facts) {
  const auto index = read_shard_index(source.file);
  if (!index) facts.problems.push_back(index.error());
  const ShardCheck check =
      index ? check_shards(*index, source.index.path_of_folder(source.indexed.folder), source.cancel) : ShardCheck{};
  report::Value note;
  for (const ShardFault& fault : check.faults) {
    if (fault.kind == ShardFaultKind::kTotalSize) {
      note = fault.text;
    } else {
      facts.problems.push_back(problem_of(fault));
    }
  }
  facts.add("files", index ? report::Value(index->files.size()) : report::Value());
  facts.add("parameters", index ? report::Value(index->parameters.size()) : report::Value());
  facts.add("total_size", index ? report::Value(index->total_size) : report::Value());
  facts.add("parameter_bytes", check.bytes).add("note", std::move(note));
}

}  // namespace msdump
