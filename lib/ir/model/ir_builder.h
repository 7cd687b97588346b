// IrGraphBuilder builds an IrGraph for the readers of IR text and IR protobuf. A type, signature, frame or stack that
// repeats costs only a look-up.
//
//   IrGraphBuilder builder;
//   const auto graph = builder.begin_graph("kernel_graph_0", "", 1);
//   IrNode node = {.graph = graph, .op = builder.intern("Conv2D"), ..};
//   builder.set_full_name(node, "Default/conv1-Conv2d/Conv2D-op12");
//   node.host = builder.signature(types_in, types_out);
//   builder.add_node(node, operands);
//   auto ir = builder.finish();
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/model/ir_graph.h"
#include "ir/model/source_frame.h"

namespace msdump {

class IrGraphBuilder {
 public:
  IrGraphBuilder() { ir_.types.emplace_back(); }

  Text intern(std::string_view text) { return ir_.pool.intern(text); }
  Text keep(std::string_view text) { return ir_.pool.keep(text); }  // for texts that do not repeat

  // "<Tensor[Float32], (2, 3)>", as IR text spells it. An index into types; 0 is the type of the empty text.
  uint32_t type(std::string_view text);
  // Indices of types; at most 65536 of both together.
  Signature signature(std::span<const uint32_t> inputs, std::span<const uint32_t> outputs);

  // An attribute for IrNode::arguments of the next operator. A long value is left out, and so is what would take the graph
  // too much memory.
  void add_argument(std::string_view key, std::string_view value);
  [[nodiscard]] Text take_arguments();

  // For IrGraph::originals() and origin_output(); no `names`: the graph does not say.
  List originals(std::optional<std::span<const Text>> names, std::span<const OriginOutput> outputs);

  // "In file ..", as in ir/model/source_frame.h. An index into frames; nothing if the text names no PLACE.
  std::optional<uint32_t> frame(std::string_view text, FrameKind kind, bool begins_chain);
  [[nodiscard]] PlaceStyle style_of(uint32_t frame) const { return styles_[frame]; }
  List stack(std::span<const uint32_t> frames) { return ir_.pool.intern(frames); }

  uint32_t begin_graph(std::string_view name, std::string_view parent_name, uint32_t line);
  // The parameters and nodes of a graph are added before the next graph begins.
  uint32_t add_parameter(const IrParameter& parameter);
  uint32_t add_node(IrNode node, std::span<const IrOperand> operands);
  uint32_t add_constant(const IrConstant& constant);
  void add_problem(uint64_t line, std::string reason);

  // Scope and leaf from "Default/conv1-Conv2d/Conv2D-op12".
  void set_full_name(IrNode& node, std::string_view full_name);

  // The graph so far; may be changed.
  [[nodiscard]] IrGraph& graph() { return ir_; }
  [[nodiscard]] const IrGraph& graph() const { return ir_; }

  // too_large if there are more texts, operators or types than an IrGraph can name.
  Result<IrGraph> finish();

 private:
  uint32_t add_type(std::string_view kept);
  bool fits(size_t count);

  IrGraph ir_;
  HandleMap type_of_text_, frame_of_text_;
  std::vector<PlaceStyle> styles_;  // of frames
  std::string scratch_, arguments_;
  Text last_arguments_ = Text::kEmpty;
  size_t argument_bytes_left_ = size_t{64} << 20;  // of arguments, over the whole file
  std::vector<uint32_t> numbers_;
  size_t elements_left_ = size_t{4} << 20;  // of tuples, over the whole file
  uint32_t type_depth_ = 0;
  bool overflow_ = false;
};

}  // namespace msdump
