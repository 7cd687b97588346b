#include "ir/text/ir_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/model/ir_builder.h"
#include "ir/model/scan.h"
#include "ir/model/types.h"
#include "ir/text/attributes.h"
#include "ir/text/file_head.h"
#include "ir/text/node_text.h"
#include "ir/text/references.h"
#include "ir/text/spelling.h"
#include "ir/text/stacks.h"

namespace msdump {
namespace {

// The last thousand signatures by their text: most operators have the types of an operator near them.
class SignatureCache {
 public:
  static constexpr size_t kMaxText = size_t{8} << 10;

  struct Entry {
    std::string text;
    Signature signature = List::kEmpty;
  };

  Entry& entry(std::string_view text) {
    if (entries_.empty()) entries_.resize(kEntries);
    return entries_[hash_bytes(text) % kEntries];
  }

 private:
  static constexpr size_t kEntries = 1024;
  static_assert((kEntries & (kEntries - 1)) == 0);
  std::vector<Entry> entries_;
};

class Assembler {
 public:
  Assembler(const IrTextOptions& options, uint64_t file_size)
      : options_(&options), references_(builder_), stacks_(builder_, spelling_) {
    file_size_ = file_size;
    argument_keys_.insert(options.arguments.begin(), options.arguments.end());
  }

  void add(const IrEvent& event);
  void add_problems(IrProblems problems);
  Result<IrGraph> finish(const IrTextReader& reader, uint64_t end);

 private:
  void add_head(const IrEvent& event);
  void add_graph(const IrEvent& event);
  void add_parameter(std::string_view text, uint64_t line);
  void add_node(const IrEvent& event);
  void add_operands(const NodeText& text);
  Signature signature(std::string_view text, uint64_t line);

  const IrTextOptions* options_;
  AttributeKeys argument_keys_;
  std::vector<IrAttribute> arguments_;
  uint64_t file_size_ = 0;
  IrGraphBuilder builder_;
  References references_;
  Spelling spelling_;
  Stacks stacks_;
  NodeTextParser parser_;
  SignatureCache signatures_;
  uint32_t graph_ = kNoIndex;
  IrProblems problems_;
  std::vector<IrOperand> operands_;
  std::vector<uint32_t> types_in_, types_out_;
  std::vector<std::string_view> parts_, parts_out_;
};

void Assembler::add(const IrEvent& event) {
  switch (event.kind) {
    case IrEvent::Kind::kHead: return add_head(event);
    case IrEvent::Kind::kGraph: return add_graph(event);
    case IrEvent::Kind::kNode: return add_node(event);
    case IrEvent::Kind::kGraphEnd:
      graph_ = kNoIndex;
      references_.begin_graph();
      return;
    case IrEvent::Kind::kEnd: return;
  }
}

void Assembler::add_problems(IrProblems problems) { builder_.graph().problems.add(std::move(problems)); }

void Assembler::add_head(const IrEvent& event) {
  if (event.line_kind == LineKind::kParameter) return add_parameter(event.text, event.line);
  if (event.line_kind != LineKind::kHash && event.line_kind != LineKind::kText) return;
  if (event.line_kind == LineKind::kText && graph_ != kNoIndex && !is_value_node(event.text)) {
    return builder_.add_problem(event.line, "line not understood: " + excerpt(trim(event.text)));
  }
  const HeadLine line = parse_head_line(event.text);
  IrFacts& facts = builder_.graph().facts;
  switch (line.kind) {
    case HeadLine::Kind::kOther: return;
    case HeadLine::Kind::kEntry:
      if (facts.entry == Text::kEmpty) facts.entry = builder_.intern(line.name);
      break;
    case HeadLine::Kind::kGraphs: facts.declared_graphs = line.count; break;
    case HeadLine::Kind::kNodes:
      facts.declared_nodes = line.count;
      // An operator takes at least two hundred bytes, so an impossible count is not trusted.
      builder_.graph().nodes.reserve(static_cast<size_t>(std::min(line.count, file_size_ / 200)));
      break;
  }
  spelling_.note_head(line);
}

void Assembler::add_graph(const IrEvent& event) {
  references_.begin_graph();
  const GraphLine line = parse_graph_line(event.text);
  graph_ = builder_.begin_graph(line.name, line.parent, static_cast<uint32_t>(event.line));
  if (graph_ == kNoIndex) return;
  for (const std::string_view parameter : line.parameters) add_parameter(parameter, event.line);
}

void Assembler::add_parameter(std::string_view text, uint64_t line) {
  ParameterLine parsed;
  if (!parse_parameter(text, parsed)) {
    return builder_.add_problem(line, fmt::format("no parameter: {}", excerpt(text)));
  }
  IrParameter parameter;
  parameter.text = builder_.intern(parsed.text);
  parameter.name = builder_.intern(parsed.name);
  parameter.number = parsed.number;
  parameter.graph = graph_;
  parameter.line = static_cast<uint32_t>(line);
  if (!parsed.host.empty()) parameter.host = builder_.type(parsed.host);
  if (!parsed.device.empty()) parameter.device = builder_.type(parsed.device);
  parameter.is_weight = parsed.is_weight;
  parameter.has_default = parsed.has_default;
  references_.add_parameter(parameter, builder_.add_parameter(parameter));
}

void Assembler::add_node(const IrEvent& event) {
  problems_.clear();
  const NodeText& text = parser_.parse(event, problems_);
  add_problems(std::move(problems_));
  if (event.cut && !text.whole && graph_ != kNoIndex) {
    return builder_.add_problem(event.line, "the file ends inside this operator");
  }
  if (text.wrong != nullptr) return builder_.add_problem(event.line, text.wrong);
  if (!text.head.operands_closed) builder_.add_problem(event.line, "the operands of this operator have no end");
  spelling_.note_label(text.label);
  IrNode node;
  node.graph = graph_;
  node.number = text.head.number;
  node.line = static_cast<uint32_t>(event.line);
  node.debug_name = builder_.keep(text.head.debug_name);
  node.op = builder_.intern(text.head.op);
  node.kind = node_kind(text.head.op);
  if (!text.full_name.empty()) builder_.set_full_name(node, text.full_name);
  if (!text.scope.empty()) node.scope = builder_.intern(text.scope);
  node.attributes = builder_.keep(only_attributes(text.head.attributes, options_->attributes));
  select_attributes(text.head.attributes, argument_keys_, arguments_);
  for (const IrAttribute& argument : arguments_) builder_.add_argument(argument.key, argument.value);
  node.arguments = builder_.take_arguments();
  node.host = signature(text.host, event.line);
  node.device = signature(text.device, event.line);
  node.stack = stacks_.stack(text.frames);
  add_operands(text);
  references_.add_node(node.number, builder_.add_node(node, operands_));
}

void Assembler::add_operands(const NodeText& text) {
  operands_.clear();
  const size_t first = builder_.graph().operands.size();
  split_at_commas(text.head.operands, Brackets::kValues, parts_);
  for (const std::string_view part : parts_) operands_.push_back(references_.operand(part, first + operands_.size()));
}

Signature Assembler::signature(std::string_view text, uint64_t line) {
  if (text.empty()) return List::kEmpty;
  SignatureCache::Entry& entry = signatures_.entry(text);
  if (entry.text == text) return entry.signature;
  if (!split_signature(text, parts_, parts_out_)) builder_.add_problem(line, "the types of this operator have no end");
  types_in_.clear();
  types_out_.clear();
  for (const std::string_view part : parts_) types_in_.push_back(builder_.type(part));
  for (const std::string_view part : parts_out_) types_out_.push_back(builder_.type(part));
  const Signature found = builder_.signature(types_in_, types_out_);
  if (text.size() <= SignatureCache::kMaxText) entry = {std::string(text), found};
  return found;
}

Result<IrGraph> Assembler::finish(const IrTextReader& reader, uint64_t end) {
  if (options_->needle.text.empty()) references_.finish();
  IrGraph& ir = builder_.graph();
  IrFacts& facts = ir.facts;
  facts.node_heads = reader.node_heads();
  const bool graphs_missing = facts.declared_graphs.value_or(0) > ir.graphs.size();
  facts.truncated = reader.inside_graph() || graphs_missing;
  if (facts.truncated) {
    facts.truncated_at = end;
    builder_.add_problem(0, reader.inside_graph()
                                ? fmt::format("the file ends inside a graph, at byte {}", end)
                                : fmt::format("{} of {} graphs are there", ir.graphs.size(), *facts.declared_graphs));
  }
  return builder_.finish();
}

}  // namespace

Result<IrGraph> read_ir_text(const File& file, const IrTextOptions& options) {
  const auto head = file.head();
  const IrKind kind = ir_kind({reinterpret_cast<const char*>(head.data()), head.size()});
  if (kind.word != "ir_text") {
    return fail(make_error(ErrorCode::kBadIr, "this is not IR text: {}", kind.explanation).with_path(file.path()));
  }
  IrTextReader reader(file, options.needle);
  Assembler assembler(options, file.size());
  for (;;) {
    MSDUMP_TRY(const IrEvent event, reader.next());
    if (event.kind == IrEvent::Kind::kEnd) {
      assembler.add_problems(reader.take_problems());
      auto ir = assembler.finish(reader, event.offset);
      if (!ir) return fail(std::move(ir).error().with_path(file.path()));
      return ir;
    }
    assembler.add(event);
    assembler.add_problems(reader.take_problems());
  }
}

}  // namespace msdump
