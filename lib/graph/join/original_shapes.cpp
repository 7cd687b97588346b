#include "graph/join/original_shapes.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/text.h"

namespace msdump {
namespace {

bool is_in_device_format(const TensorRecord& tensor) {
  return tensor.has_elements && tensor.name.format && info(*tensor.name.format).support == Support::kDevice;
}

struct SlotType {
  const IrType *host = nullptr, *device = nullptr;  // no device: the graph does not say
};

// The types by slot, as dump files count them; none if the types do not tell how these count.
std::vector<SlotType> slots_of(const IrGraph& ir, std::span<const uint32_t> host, std::span<const uint32_t> device) {
  const auto values = [&](std::span<const uint32_t> types) {
    std::vector<const IrType*> found;
    for (const uint32_t index : types) {
      if (!ir.types[index].is_monad) found.push_back(&ir.types[index]);
    }
    return found;
  };
  const std::vector<const IrType*> hosts = values(host), devices = values(device);
  const bool folded = std::any_of(hosts.begin(), hosts.end(), [](const IrType* type) { return type->is_tuple; });
  if (folded || (!devices.empty() && devices.size() != hosts.size())) return {};
  std::vector<SlotType> slots;
  for (size_t i = 0; i < hosts.size(); ++i) slots.push_back({hosts[i], devices.empty() ? nullptr : devices[i]});
  return slots;
}

std::vector<SlotType> slots_of(const OpGraph& graph, OpId op, Io io) {
  const IrGraph& ir = graph.ir(op);
  const IrNode& node = graph.node(op);
  if (io == Io::kInput) return slots_of(ir, ir.inputs(node.host), ir.inputs(node.device));
  if (io == Io::kOutput) return slots_of(ir, ir.outputs(node.host), ir.outputs(node.device));
  return {};
}

std::optional<OriginalShape> shape_of(const SlotType& slot, OriginKind kind) {
  const IrType& type = *slot.host;
  if (!type.shape || std::any_of(type.shape->begin(), type.shape->end(), [](int64_t dim) { return dim < 0; }))
    return std::nullopt;
  const bool ge = kind == OriginKind::kGeGraph;
  return OriginalShape{*type.shape, slot.device == nullptr ? std::nullopt : slot.device->shape,
                       ge ? format_from_name(type.format) : std::nullopt, ge ? "the graph of GE" : "the IR"};
}

// Host shapes that all operators of a type with the same device shape in a slot agree on. Then it does not matter which
// of these operators a file belongs to.
class CommonShapes {
 public:
  explicit CommonShapes(const OpGraph& graph) : graph_(graph) {}

  [[nodiscard]] bool is_common(OpId op, Io io, size_t slot, const OriginalShape& shape) {
    if (!shape.device) return false;
    if (shapes_.empty()) collect();
    const auto found = shapes_.find({graph_.op_type(op), io, slot, *shape.device});
    return found != shapes_.end() && found->second == shape;
  }

 private:
  using Key = std::tuple<std::string_view, Io, size_t, Shape>;

  void collect() {
    for (OpId op{0}; op < graph_.size(); ++op) {
      for (const Io io : {Io::kInput, Io::kOutput}) {
        const std::vector<SlotType> slots = slots_of(graph_, op, io);
        for (size_t slot = 0; slot < slots.size(); ++slot) add(op, io, slot, slots[slot]);
      }
    }
  }

  void add(OpId op, Io io, size_t slot, const SlotType& type) {
    if (type.device == nullptr || !type.device->shape) return;
    const auto shape = shape_of(type, graph_.origin(op).kind);
    const auto [place, added] = shapes_.try_emplace({graph_.op_type(op), io, slot, *type.device->shape}, shape);
    if (!added && place->second != shape) place->second.reset();
  }

  const OpGraph& graph_;
  std::map<Key, std::optional<OriginalShape>> shapes_;  // no value: they differ
};

}  // namespace

void OriginalShapes::add_tables(const std::vector<TensorRecord>& tensors) {
  for (const TensorRecord& tensor : tensors) {
    if (tensor.table != kNoId && tensor.shape != nullptr && is_in_device_format(tensor))
      tables_[{tensor.file, tensor.item}] = {*tensor.shape, std::nullopt, std::nullopt, "statistic.csv"};
  }
}

void OriginalShapes::add_graph(const std::vector<TensorRecord>& tensors, const OpGraph& graph, const FileJoin& join) {
  CommonShapes common(graph);
  for (const JoinPair& pair : join.pairs()) {
    for (const uint32_t number : join.tensors_of(join.groups()[pair.group])) {
      const TensorRecord& tensor = tensors[number];
      const auto slot = parse_u64(tensor.name.slot);
      if (!slot || !is_in_device_format(tensor)) continue;
      const std::vector<SlotType> slots = slots_of(graph, pair.op, tensor.name.io);
      if (*slot >= slots.size()) continue;
      const auto shape = shape_of(slots[*slot], graph.origin(pair.op).kind);
      if (!shape) continue;
      if (pair.confidence < kSureJoin && !common.is_common(pair.op, tensor.name.io, *slot, *shape)) continue;
      const auto [place, added] = graph_.try_emplace({tensor.file, tensor.item}, shape);
      if (!added && place->second != shape) place->second.reset();
    }
  }
}

std::vector<OriginalShape> OriginalShapes::of(FileId file, uint32_t item) const {
  std::vector<OriginalShape> shapes;
  const Place place{file, item};
  if (const auto found = tables_.find(place); found != tables_.end()) shapes.push_back(found->second);
  if (const auto found = graph_.find(place); found != graph_.end() && found->second) shapes.push_back(*found->second);
  return shapes;
}

}  // namespace msdump
