#include "ir/text/ir_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/model/ir_builder.h"
#include "ir/model/ir_graph.h"
#include "ir/model/scan.h"
#include "ir/model/types.h"
#include "ir/text/attributes.h"
#include "ir/text/file_head.h"
#include "ir/text/node_text.h"

namespace msdump {
namespace {

// Knows whether the source lines of a stack begin with the innermost: MindSpore 1.x writes them so, 2.0 and later write
// the outermost first. The head of the file or the label of a name shows the version; both come before the lines.
class Spelling {
 public:
  enum class Order : uint8_t { kUnknown, kInnermostFirst, kOutermostFirst };

  void note_head(const HeadLine& line) {
    if (line.is_1) order_ = Order::kInnermostFirst;
    if (line.is_2) order_ = Order::kOutermostFirst;
  }

  // The 2.0 previews still have labels of 1.x, so the head of the file takes precedence.
  void note_label(NameLabel label) {
    if (label == NameLabel::kNone || label == NameLabel::kPlain || order_ != Order::kUnknown) return;
    order_ = label == NameLabel::kLower ? Order::kInnermostFirst : Order::kOutermostFirst;
  }

  // The order of source lines without columns, which 1.9 and later write both ways.
  [[nodiscard]] Order order() const { return order_; }

 private:
  Order order_ = Order::kUnknown;
};

// The source lines of an operator as a stack: each chain with its innermost frame first, whichever way the text has it.
class Stacks {
 public:
  Stacks(IrGraphBuilder& builder, const Spelling& spelling) : builder_(&builder), spelling_(&spelling) {}

  // Frames without a line number are left out and reported.
  List stack(std::span<const FrameLine> frames) {
    frames_.clear();
    for (size_t begin = 0; begin < frames.size();) {
      size_t end = begin + 1;
      while (end < frames.size() && !frames[end].begins_chain) ++end;
      add_chain(frames.subspan(begin, end - begin));
      begin = end;
    }
    return builder_->stack(frames_);
  }

 private:
  // A frame is interned with its place in the chain, so the order must be known first. It is assumed to be that of the
  // previous chain, and corrected when the frames say otherwise.
  void add_chain(std::span<const FrameLine> chain) {
    const bool outermost_first = intern_chain(chain, outermost_first_);
    if (outermost_first != outermost_first_) {
      outermost_first_ = outermost_first;
      intern_chain(chain, outermost_first);
    }
    frames_.insert(frames_.end(), chain_.begin(), chain_.end());
  }

  // Fills chain_, innermost first if the frames are in the given order; returns the order they are in.
  bool intern_chain(std::span<const FrameLine> chain, bool outermost_first) {
    chain_.clear();
    for (size_t i = 0; i < chain.size(); ++i) {
      const FrameLine& line = outermost_first ? chain[chain.size() - 1 - i] : chain[i];
      const auto frame = builder_->frame(line.text, line.kind, chain_.empty());
      if (!frame) {
        builder_->add_problem(line.line, fmt::format("no line number in: {}", excerpt(line.text)));
        continue;
      }
      chain_.push_back(*frame);
    }
    return is_outermost_first(chain);
  }

  bool is_outermost_first(std::span<const FrameLine> chain) {
    bool plain = false;
    for (const uint32_t frame : chain_) {
      if (builder_->style_of(frame) == PlaceStyle::kRange) return true;
      plain = plain || builder_->style_of(frame) == PlaceStyle::kLine;
    }
    if (plain && chain_.size() > 1 && spelling_->order() == Spelling::Order::kUnknown && !order_missed_) {
      order_missed_ = true;
      builder_->add_problem(chain.front().line, "the order of source lines is unknown; innermost first is assumed");
    }
    return plain && spelling_->order() == Spelling::Order::kOutermostFirst;
  }

  IrGraphBuilder* builder_;
  const Spelling* spelling_;
  bool outermost_first_ = false;  // of the last chain: a guess at the next
  bool order_missed_ = false;     // reported
  std::vector<uint32_t> frames_, chain_;
};

// N of "%N".
std::optional<uint32_t> number_of(std::string_view text) {
  if (!text.starts_with('%') || text.size() > 10) return std::nullopt;
  const auto number = parse_u64(text.substr(1));
  return number ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

// Resolves the operands of IR text: "%3" is an operator of the same graph, "%para1_x" a parameter, "@g" a graph,
// "$(@g:x)" an operator or parameter of another graph. A reference may come before its target: a closure uses the
// parameters of a graph that is printed after it. Kernel graphs and 00_bootstrap refer to "%para1_Parameter_3" although
// their heads have "%para1_x": then the number decides. A reference without a target in the file keeps its text.
class References {
 public:
  explicit References(IrGraphBuilder& builder) : builder_(&builder) {}

  // Numbers start again with each graph.
  void begin_graph() {
    resolve_numbers();
    by_number_.clear();
    by_large_number_.clear();
    numbered_ = 0;
  }

  void add_node(uint32_t number, uint32_t index) {
    if (number == kNoIndex) return;
    if (number < 4 * numbered_ + 64) {
      if (number >= by_number_.size()) by_number_.resize(size_t{number} + 1, kNoIndex);
      by_number_[number] = index;
    } else {
      by_large_number_[number] = index;
    }
    ++numbered_;
  }

  void add_parameter(const IrParameter& parameter, uint32_t index) {
    parameters_.set(static_cast<uint32_t>(parameter.text), index);
    if (parameter.number > 0) numbered_parameters_.set(parameter.number, index);
  }

  // The operand for a text of the next node; `place` is its future index in IrGraph::operands.
  IrOperand operand(std::string_view text, size_t place) {
    if (text.starts_with('%')) {
      if (const auto number = number_of(text)) {
        const uint32_t node = node_of(*number);
        if (node != kNoIndex) return {IrOperand::Kind::kNode, false, node};
        return unresolved(text, place, pending_);
      }
      const Text name = builder_->intern(text.substr(1));
      if (const auto parameter = parameters_.find(static_cast<uint32_t>(name))) {
        return {IrOperand::Kind::kParameter, false, *parameter};
      }
      return unresolved(text, place, pending_parameters_);
    }
    if (text.starts_with("$(") || text.starts_with('@')) return unresolved(text, place, pending_outside_);
    return {IrOperand::Kind::kConstant, false, static_cast<uint32_t>(builder_->intern(text))};
  }

  // Resolves references between graphs, and their parents.
  void finish() {
    begin_graph();
    IrGraph& ir = builder_->graph();
    for (uint32_t i = 0; i < ir.graphs.size(); ++i) {
      const auto name = static_cast<uint32_t>(ir.graphs[i].name);
      if (name != 0 && !graphs_.find(name)) graphs_.set(name, i);
    }
    for (const uint32_t place : pending_outside_) {
      if (place < ir.operands.size()) resolve_outside(ir.operands[place]);
    }
    for (const uint32_t place : pending_parameters_) {
      if (place < ir.operands.size()) resolve_parameter(ir.operands[place]);
    }
    find_parents();
  }

 private:
  using Labels = std::unordered_map<std::string_view, IrOperand>;

  [[nodiscard]] uint32_t node_of(uint32_t number) const {
    if (number < by_number_.size() && by_number_[number] != kNoIndex) return by_number_[number];
    if (by_large_number_.empty()) return kNoIndex;
    const auto found = by_large_number_.find(number);
    return found == by_large_number_.end() ? kNoIndex : found->second;
  }

  IrOperand unresolved(std::string_view text, size_t place, std::vector<uint32_t>& pending) {
    pending.push_back(static_cast<uint32_t>(place));
    return {IrOperand::Kind::kUnresolved, false, static_cast<uint32_t>(builder_->intern(text))};
  }

  void resolve_numbers() {
    IrGraph& ir = builder_->graph();
    for (const uint32_t place : pending_) {
      if (place >= ir.operands.size()) continue;
      IrOperand& operand = ir.operands[place];
      const auto number = number_of(ir.text(Text{operand.value}));
      const uint32_t node = number ? node_of(*number) : kNoIndex;
      if (node != kNoIndex) operand = {IrOperand::Kind::kNode, false, node};
    }
    pending_.clear();
  }

  // "@g", "$(@g:x)", "$(g:x)".
  void resolve_outside(IrOperand& operand) {
    std::string_view text = builder_->graph().text(Text{operand.value});
    const bool inside = text.starts_with("$(") && text.ends_with(')');
    if (inside) text = text.substr(2, text.size() - 3);
    if (text.starts_with('@')) text.remove_prefix(1);
    const size_t colon = inside ? text.find(':') : std::string_view::npos;
    const Text name = builder_->intern(text.substr(0, colon));
    const auto graph = graphs_.find(static_cast<uint32_t>(name));
    if (!graph) return;
    if (!inside) {
      operand = {IrOperand::Kind::kGraph, false, *graph};
    } else if (colon != std::string_view::npos) {
      const Labels& labels = labels_of(*graph);
      const auto found = labels.find(text.substr(colon + 1));
      if (found != labels.end()) operand = found->second;
    }
  }

  // "%para1_x"
  void resolve_parameter(IrOperand& operand) {
    const std::string_view text = builder_->graph().text(Text{operand.value}).substr(1);
    auto parameter = parameters_.find(static_cast<uint32_t>(builder_->intern(text)));
    ParameterLine line;
    if (!parameter && parse_parameter(builder_->graph().text(Text{operand.value}), line) && line.number > 0) {
      parameter = numbered_parameters_.find(line.number);
    }
    if (parameter) operand = {IrOperand::Kind::kParameter, false, *parameter};
  }

  void find_parents() {
    for (IrSubgraph& graph : builder_->graph().graphs) {
      const auto parent = graphs_.find(static_cast<uint32_t>(graph.parent_name));
      if (graph.parent_name != Text::kEmpty && parent) graph.parent = *parent;
    }
  }

  // Debug names and parameters of a graph; the first of equal ones. The parameters of the entry graph are in the head.
  const Labels& labels_of(uint32_t graph) {
    const auto place = labels_.try_emplace(graph);
    Labels& labels = place.first->second;
    if (!place.second) return labels;
    const IrGraph& ir = builder_->graph();
    const IrSubgraph& subgraph = ir.graphs[graph];
    const auto add_parameter = [&](uint32_t i) {
      labels.try_emplace(ir.text(ir.parameters[i].text), IrOperand{IrOperand::Kind::kParameter, false, i});
    };
    for (uint32_t i = 0; i < subgraph.parameter_count; ++i) add_parameter(subgraph.first_parameter + i);
    if (subgraph.name == ir.facts.entry) {
      for (uint32_t i = 0; i < ir.parameters.size() && ir.parameters[i].graph == kNoIndex; ++i) add_parameter(i);
    }
    for (uint32_t i = subgraph.first_node; i < subgraph.first_node + subgraph.node_count; ++i) {
      if (ir.nodes[i].debug_name == Text::kEmpty) continue;
      labels.try_emplace(ir.text(ir.nodes[i].debug_name), IrOperand{IrOperand::Kind::kNode, false, i});
    }
    return labels;
  }

  IrGraphBuilder* builder_;
  std::vector<uint32_t> by_number_;  // while numbers are dense, as in files that MindSpore wrote
  std::unordered_map<uint32_t, uint32_t> by_large_number_;
  size_t numbered_ = 0;
  HandleMap parameters_;  // the last of that name: a graph names its own before it uses them
  HandleMap numbered_parameters_;
  HandleMap graphs_;
  std::vector<uint32_t> pending_, pending_outside_, pending_parameters_;  // places of operands
  std::unordered_map<uint32_t, Labels> labels_;
};

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

  void add(const IrEvent& event) {
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

  void add_problems(IrProblems problems) { builder_.graph().problems.add(std::move(problems)); }

  Result<IrGraph> finish(const IrTextReader& reader, uint64_t end) {
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

 private:
  void add_head(const IrEvent& event) {
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

  void add_graph(const IrEvent& event) {
    references_.begin_graph();
    const GraphLine line = parse_graph_line(event.text);
    graph_ = builder_.begin_graph(line.name, line.parent, static_cast<uint32_t>(event.line));
    if (graph_ == kNoIndex) return;
    for (const std::string_view parameter : line.parameters) add_parameter(parameter, event.line);
  }

  void add_parameter(std::string_view text, uint64_t line) {
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

  void add_node(const IrEvent& event) {
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

  void add_operands(const NodeText& text) {
    operands_.clear();
    const size_t first = builder_.graph().operands.size();
    split_at_commas(text.head.operands, Brackets::kValues, parts_);
    for (const std::string_view part : parts_) operands_.push_back(references_.operand(part, first + operands_.size()));
  }

  Signature signature(std::string_view text, uint64_t line) {
    if (text.empty()) return List::kEmpty;
    SignatureCache::Entry& entry = signatures_.entry(text);
    if (entry.text == text) return entry.signature;
    if (!split_signature(text, parts_, parts_out_))
      builder_.add_problem(line, "the types of this operator have no end");
    types_in_.clear();
    types_out_.clear();
    for (const std::string_view part : parts_) types_in_.push_back(builder_.type(part));
    for (const std::string_view part : parts_out_) types_out_.push_back(builder_.type(part));
    const Signature found = builder_.signature(types_in_, types_out_);
    if (text.size() <= SignatureCache::kMaxText) entry = {std::string(text), found};
    return found;
  }

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
