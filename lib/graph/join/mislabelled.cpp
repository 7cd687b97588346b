#include "graph/join/mislabelled.h"

#include <span>

#include "base/text.h"

namespace msdump {
namespace {

// The types of all inputs or outputs; a tuple stands for its elements.
std::vector<uint32_t> unfolded(const IrGraph& ir, std::span<const uint32_t> types) {
  if (types.size() == 1 && ir.types[types.front()].is_tuple) return ir.types[types.front()].elements;
  return {types.begin(), types.end()};
}

}  // namespace

std::vector<bool> float32_on_device(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators) {
  std::vector<bool> found(dump.tensors->size(), false);
  for (const SequencedOp& op : operators) {
    if (op.op == kNoIndex || op.tensors.empty()) continue;
    const IrGraph& ir = dump.graph->ir(op.op);
    const IrNode& node = dump.graph->node(op.op);
    if (node.device == List::kEmpty) continue;
    const auto has_type = [&](const std::vector<uint32_t>& types, uint64_t slot, DType dtype) {
      return slot < types.size() && ir.types[types[slot]].known_dtype() == dtype;
    };
    const std::vector<uint32_t> host_inputs = unfolded(ir, ir.inputs(node.host));
    const std::vector<uint32_t> host_outputs = unfolded(ir, ir.outputs(node.host));
    const std::vector<uint32_t> device_inputs = unfolded(ir, ir.inputs(node.device));
    const std::vector<uint32_t> device_outputs = unfolded(ir, ir.outputs(node.device));
    for (const uint32_t tensor : op.tensors) {
      const NameFacts& name = (*dump.tensors)[tensor].name;
      const auto slot = parse_u64(name.slot);
      if (!slot || (name.io != Io::kInput && name.io != Io::kOutput)) continue;
      const bool input = name.io == Io::kInput;
      found[tensor] = has_type(input ? host_inputs : host_outputs, *slot, DType::kFloat16) &&
                      has_type(input ? device_inputs : device_outputs, *slot, DType::kFloat32);
    }
  }
  return found;
}

}  // namespace msdump
