#include "ir/ir_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/attributes.h"
#include "ir/file_head.h"
#include "ir/ir_builder.h"
#include "ir/node_text.h"
#include "ir/references.h"
#include "ir/scan.h"
#include "ir/types.h"

namespace msdump {
namespace {

// Signatures by their text, for the last few thousand: most operators have types that an operator near them had.
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
  static constexpr size_t kEntries = 4096;
  static_assert((kEntries & (kEntries - 1)) == 0);
  std::vector<Entry> entries_;
};

class Assembler {
 public:
  Assembler(const IrTextOptions& options, uint64_t file_size) : options_(&options), references_(builder_) {
    file_size_ = file_size;
  }

  void add(const IrEvent& event);
  void add_problems(std::vector<IrProblem> problems);
  Result<IrGraph> finish(const IrTextReader& reader, uint64_t end);

 private:
  enum class Order : uint8_t { kUnknown, kInnermostFirst, kOutermostFirst };

  void add_head(const IrEvent& event);
  void add_graph(const IrEvent& event);
  void add_parameter(std::string_view text, uint64_t line);
  void add_node(const IrEvent& event);
  void note_label(NameLabel label);
  void add_operands(const NodeText& text);
  void add_attributes(const NodeText& text, uint64_t line, IrNode& node);
  Signature signature(std::string_view text, uint64_t line);
  List stack(const std::vector<FrameLine>& frames);
  void add_chain(std::span<const FrameLine> chain);
  bool intern_chain(std::span<const FrameLine> chain, bool outermost_first);
  void note_frame(uint32_t frame);
  void versions(uint16_t oldest, uint16_t newest);

  const IrTextOptions* options_;
  uint64_t file_size_ = 0;
  IrGraphBuilder builder_;
  References references_;
  NodeTextParser parser_;
  SignatureCache signatures_;
  uint32_t graph_ = kNoIndex;
  Order order_ = Order::kUnknown;
  bool outermost_first_ = false;  // of the last chain: a guess at the next
  bool order_guessed_ = false;
  bool versions_disagree_ = false;
  size_t noted_frames_ = 0;
  std::vector<IrProblem> problems_;
  std::vector<IrOperand> operands_;
  std::vector<uint32_t> frames_, chain_, types_in_, types_out_;
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

void Assembler::add_problems(std::vector<IrProblem> problems) {
  for (IrProblem& problem : problems) builder_.add_problem(problem.line, std::move(problem.reason));
}

// Evidence for the version; evidence that contradicts itself is none.
void Assembler::versions(uint16_t oldest, uint16_t newest) {
  IrFacts& facts = builder_.graph().facts;
  if (versions_disagree_) return;
  facts.oldest_version = std::max(facts.oldest_version, oldest);
  facts.newest_version = std::min(facts.newest_version, newest);
  if (facts.oldest_version <= facts.newest_version) return;
  versions_disagree_ = true;
  facts.oldest_version = 0;
  facts.newest_version = 9999;
}

void Assembler::add_head(const IrEvent& event) {
  if (event.line_kind == LineKind::kParameter) return add_parameter(event.text, event.line);
  if (event.line_kind == LineKind::kGraphNote && trim(event.text).starts_with("subgraph instance")) versions(107, 9999);
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
      // An operator takes two hundred bytes at least; a count that cannot be true is not believed.
      builder_.graph().nodes.reserve(static_cast<size_t>(std::min(line.count, file_size_ / 200)));
      versions(203, 9999);
      break;
  }
  if (line.is_1) order_ = Order::kInnermostFirst;
  if (line.is_2) order_ = Order::kOutermostFirst;
  if (line.is_1) versions(0, 110);
  if (line.is_2) versions(200, 9999);
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
  parameter.symbolic_shape = builder_.intern(parsed.symbolic_shape);
  parameter.is_weight = parsed.is_weight;
  parameter.has_default = parsed.has_default;
  if (parsed.is_weight) parsed.weight_without_blank ? versions(0, 108) : versions(109, 9999);
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
  note_label(text.label);
  IrNode node;
  node.graph = graph_;
  node.number = text.head.number;
  node.line = static_cast<uint32_t>(event.line);
  node.debug_name = builder_.keep(text.head.debug_name);
  node.op = builder_.intern(text.head.op);
  node.kind = node_kind(text.head.op);
  if (text.head.op.starts_with("PrimFunc_")) versions(203, 9999);
  if (!text.full_name.empty()) builder_.set_full_name(node, text.full_name);
  if (!text.scope.empty()) node.scope = builder_.intern(text.scope);
  add_attributes(text, event.line, node);
  node.host = signature(text.host, event.line);
  node.device = signature(text.device, event.line);
  node.objects = signature(text.objects, event.line);
  node.stack = stack(text.frames);
  add_operands(text);
  references_.add_node(node.number, builder_.add_node(node, operands_));
}

void Assembler::note_label(NameLabel label) {
  if (label == NameLabel::kLower) versions(107, 200);
  if (label == NameLabel::kUpper || label == NameLabel::kSort) versions(200, 9999);
  if (order_ != Order::kUnknown) return;
  if (label == NameLabel::kLower) order_ = Order::kInnermostFirst;
  if (label == NameLabel::kUpper || label == NameLabel::kSort) order_ = Order::kOutermostFirst;
}

void Assembler::add_operands(const NodeText& text) {
  operands_.clear();
  const size_t first = builder_.graph().operands.size();
  split_at_commas(text.head.operands, Brackets::kValues, parts_);
  for (const std::string_view part : parts_) operands_.push_back(references_.operand(part, first + operands_.size()));
}

void Assembler::add_attributes(const NodeText& text, uint64_t line, IrNode& node) {
  if (!options_->all_attributes) {
    const std::string kept = only_attributes(text.head.attributes, options_->attributes);
    node.attributes = builder_.keep(kept);
    return;
  }
  std::string all(text.head.attributes);
  if (!text.strategy.empty()) all.append(all.empty() ? "" : " ").append(text.strategy);
  if (all.find("  ") != std::string::npos) all = collapse_blanks(all);
  node.attributes = builder_.intern(all);
  std::vector<IrAttribute> ignored;
  if (!parse_attributes(all, ignored)) builder_.add_problem(line, "the attributes of this operator are damaged");
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

List Assembler::stack(const std::vector<FrameLine>& frames) {
  frames_.clear();
  for (size_t begin = 0; begin < frames.size();) {
    size_t end = begin + 1;
    while (end < frames.size() && !frames[end].begins_chain) ++end;
    add_chain(std::span(frames).subspan(begin, end - begin));
    begin = end;
  }
  return builder_.stack(frames_);
}

// Frames are interned with their place in the chain, so the order has to be known first: it is taken to be that of the
// chain before, and put right when the frames say otherwise.
void Assembler::add_chain(std::span<const FrameLine> chain) {
  const bool outermost_first = intern_chain(chain, outermost_first_);
  if (outermost_first != outermost_first_) {
    outermost_first_ = outermost_first;
    intern_chain(chain, outermost_first);
  }
  frames_.insert(frames_.end(), chain_.begin(), chain_.end());
}

// Fills chain_, innermost first, and tells the order in which the frames really are.
bool Assembler::intern_chain(std::span<const FrameLine> chain, bool outermost_first) {
  chain_.clear();
  bool range = false, plain = false;
  for (size_t i = 0; i < chain.size(); ++i) {
    const FrameLine& line = outermost_first ? chain[chain.size() - 1 - i] : chain[i];
    const auto frame = builder_.frame(line.text, line.kind, chain_.empty());
    if (!frame) {
      builder_.add_problem(line.line, fmt::format("no line number in: {}", excerpt(line.text)));
      continue;
    }
    note_frame(*frame);
    range = range || builder_.style_of(*frame) == PlaceStyle::kRange;
    plain = plain || builder_.style_of(*frame) == PlaceStyle::kLine;
    chain_.push_back(*frame);
  }
  if (range) return true;
  if (plain && order_ == Order::kUnknown && chain.size() > 1 && !order_guessed_) {
    order_guessed_ = true;
    builder_.add_problem(chain.front().line, "nothing tells the order of source lines; taken as innermost first");
  }
  return plain && order_ == Order::kOutermostFirst;
}

void Assembler::note_frame(uint32_t frame) {
  if (frame < noted_frames_) return;
  noted_frames_ = frame + 1;
  switch (builder_.style_of(frame)) {
    case PlaceStyle::kParentheses: return versions(0, 108);
    case PlaceStyle::kLine: break;
    case PlaceStyle::kRange: return versions(203, 9999);
  }
  if (builder_.graph().frames[frame].inlined) versions(200, 202);
}

Result<IrGraph> Assembler::finish(const IrTextReader& reader, uint64_t end) {
  if (options_->needle.text.empty()) references_.finish();
  IrGraph& ir = builder_.graph();
  for (const IrType& type : ir.types) {
    if (type.is_parameter) versions(207, 9999);
    if (type.is_inplace) versions(208, 9999);
  }
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
    return fail(make_error(ErrorCode::kBadIr, "no IR text: {}", kind.explanation).with_path(file.path()));
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
