#include "ir/model/ir_builder.h"

#include <algorithm>

#include "ir/model/types.h"

namespace msdump {
namespace {

constexpr uint32_t kMaxTypeDepth = 4;          // tuples in tuples
constexpr size_t kMaxElements = 65536;         // of one tuple
constexpr size_t kMaxTypes = size_t{4} << 20;  // a graph has some hundreds

}  // namespace

bool IrGraphBuilder::fits(size_t count) {
  overflow_ = overflow_ || count >= kNoIndex;
  return count < kNoIndex;
}

uint32_t IrGraphBuilder::type(std::string_view text) {
  const Text kept = intern(text);
  if (kept == Text::kEmpty) return 0;
  if (const auto known = type_of_text_.find(static_cast<uint32_t>(kept))) return *known;
  const uint32_t index = add_type(ir_.text(kept));
  type_of_text_.set(static_cast<uint32_t>(kept), index);
  return index;
}

uint32_t IrGraphBuilder::add_type(std::string_view kept) {
  overflow_ = overflow_ || ir_.types.size() >= kMaxTypes;
  if (overflow_) return 0;
  ParsedType parsed = parse_ir_type(kept, std::min(kMaxElements, elements_left_));
  const auto index = static_cast<uint32_t>(ir_.types.size());
  ir_.types.push_back(std::move(parsed.type));
  if (parsed.elements_left_out) add_problem(0, "a tuple type with very many elements is kept as its text only");
  if (parsed.elements.empty() || type_depth_ == kMaxTypeDepth) return index;
  ++type_depth_;
  std::vector<uint32_t> elements;
  for (const ParsedType::Element& element : parsed.elements) {
    elements.insert(elements.end(), element.count, type(element.text));
  }
  --type_depth_;
  elements_left_ -= std::min(elements_left_, elements.size());
  ir_.types[index].elements = std::move(elements);
  return index;
}

Signature IrGraphBuilder::signature(std::span<const uint32_t> inputs, std::span<const uint32_t> outputs) {
  numbers_.clear();
  numbers_.push_back(static_cast<uint32_t>(inputs.size()));
  numbers_.insert(numbers_.end(), inputs.begin(), inputs.end());
  numbers_.insert(numbers_.end(), outputs.begin(), outputs.end());
  return ir_.pool.intern(numbers_);
}

void IrGraphBuilder::add_argument(std::string_view key, std::string_view value) {
  constexpr size_t kMostValue = 512, kMostOfOperator = 2048;
  if (value.size() > kMostValue || arguments_.size() + key.size() + value.size() > kMostOfOperator) return;
  arguments_.append(arguments_.empty() ? "{" : ", ").append(key).append(": ").append(value);
}

Text IrGraphBuilder::take_arguments() {
  if (arguments_.empty()) return Text::kEmpty;
  arguments_ += '}';
  const Text text = arguments_.size() <= argument_bytes_left_ ? intern(arguments_) : Text::kEmpty;
  // Handles ascend, so this one is of a new text.
  if (text > last_arguments_) {
    last_arguments_ = text;
    argument_bytes_left_ -= arguments_.size();
  }
  arguments_.clear();
  return text;
}

List IrGraphBuilder::originals(std::optional<std::span<const Text>> names, std::span<const OriginOutput> outputs) {
  while (!outputs.empty() && outputs.back().name == Text::kEmpty) outputs = outputs.first(outputs.size() - 1);
  if (!names && outputs.empty()) return List::kEmpty;
  numbers_.clear();
  numbers_.push_back(names ? static_cast<uint32_t>(names->size()) : kNoIndex);
  for (const Text name : names.value_or(std::span<const Text>())) numbers_.push_back(static_cast<uint32_t>(name));
  for (const OriginOutput& output : outputs) {
    numbers_.push_back(static_cast<uint32_t>(output.name));
    numbers_.push_back(output.index);
  }
  return ir_.pool.intern(numbers_);
}

std::optional<uint32_t> IrGraphBuilder::frame(std::string_view text, FrameKind kind, bool begins_chain) {
  // The same text is another frame for each kind and place in the chain; the first byte distinguishes them.
  scratch_.assign(1, static_cast<char>('a' + static_cast<int>(kind) * 2 + (begins_chain ? 1 : 0)));
  scratch_ += text;
  const Text kept = intern(scratch_);
  if (kept == Text::kEmpty) return std::nullopt;
  if (const auto known = frame_of_text_.find(static_cast<uint32_t>(kept))) {
    return *known == kNoIndex ? std::nullopt : std::optional(*known);
  }
  auto parsed = parse_source_frame(ir_.text(kept).substr(1));
  const bool good = parsed && fits(ir_.frames.size());
  frame_of_text_.set(static_cast<uint32_t>(kept), good ? static_cast<uint32_t>(ir_.frames.size()) : kNoIndex);
  if (!good) return std::nullopt;
  parsed->frame.kind = kind;
  parsed->frame.begins_chain = begins_chain;
  ir_.frames.push_back(parsed->frame);
  styles_.push_back(parsed->style);
  return static_cast<uint32_t>(ir_.frames.size() - 1);
}

uint32_t IrGraphBuilder::begin_graph(std::string_view name, std::string_view parent_name, uint32_t line) {
  if (!fits(ir_.graphs.size())) return kNoIndex;
  IrSubgraph graph;
  graph.name = intern(name);
  graph.parent_name = intern(parent_name);
  graph.line = line;
  graph.first_node = static_cast<uint32_t>(ir_.nodes.size());
  graph.first_parameter = static_cast<uint32_t>(ir_.parameters.size());
  ir_.graphs.push_back(graph);
  return static_cast<uint32_t>(ir_.graphs.size() - 1);
}

uint32_t IrGraphBuilder::add_parameter(const IrParameter& parameter) {
  if (!fits(ir_.parameters.size())) return kNoIndex;
  if (parameter.graph != kNoIndex) ++ir_.graphs[parameter.graph].parameter_count;
  ir_.parameters.push_back(parameter);
  return static_cast<uint32_t>(ir_.parameters.size() - 1);
}

uint32_t IrGraphBuilder::add_node(IrNode node, std::span<const IrOperand> operands) {
  if (!fits(ir_.nodes.size()) || !fits(ir_.operands.size() + operands.size())) return kNoIndex;
  node.first_operand = static_cast<uint32_t>(ir_.operands.size());
  node.operand_count = static_cast<uint32_t>(operands.size());
  ir_.operands.insert(ir_.operands.end(), operands.begin(), operands.end());
  if (node.graph != kNoIndex) ++ir_.graphs[node.graph].node_count;
  ir_.nodes.push_back(node);
  return static_cast<uint32_t>(ir_.nodes.size() - 1);
}

uint32_t IrGraphBuilder::add_constant(const IrConstant& constant) {
  if (!fits(ir_.constants.size())) return kNoIndex;
  ir_.constants.push_back(constant);
  return static_cast<uint32_t>(ir_.constants.size() - 1);
}

void IrGraphBuilder::add_problem(uint64_t line, std::string reason) { ir_.problems.add({line, std::move(reason)}); }

void IrGraphBuilder::set_full_name(IrNode& node, std::string_view full_name) {
  const size_t slash = full_name.rfind('/');
  const bool has_scope = slash != std::string_view::npos && slash > 0 && slash + 1 < full_name.size();
  node.scope = has_scope ? intern(full_name.substr(0, slash)) : Text::kEmpty;
  node.leaf = keep(has_scope ? full_name.substr(slash + 1) : full_name);
}

Result<IrGraph> IrGraphBuilder::finish() {
  if (overflow_ || ir_.pool.full()) {
    return fail(ErrorCode::kTooLarge, "more operators or texts than can be kept: {} operators so far",
                ir_.nodes.size());
  }
  ir_.pool.close();
  ir_.nodes.shrink_to_fit();
  ir_.operands.shrink_to_fit();
  return std::move(ir_);
}

}  // namespace msdump
