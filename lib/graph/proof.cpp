#include "graph/proof.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "dump/host_tensor.h"

namespace msdump {
namespace {

constexpr int64_t kPieceBytes = int64_t{1} << 20;

bool equal_piece(HostTensor& a, HostTensor& b, int64_t first, int64_t count, std::vector<std::byte>& buffer) {
  const size_t bytes = static_cast<size_t>(count) * a.element_bytes();
  buffer.resize(2 * bytes);
  if (!a.read(first, count, buffer.data()) || !b.read(first, count, buffer.data() + bytes)) return false;
  return std::memcmp(buffer.data(), buffer.data() + bytes, bytes) == 0;
}

const TensorRecord* best(const std::vector<TensorRecord>& tensors, const FileJoin& join, OpId op, Io io, uint32_t slot,
                         const TensorRecord* like, const DumpIndex& index) {
  const auto pairs = join.pairs_of(op);
  if (pairs.empty()) return nullptr;
  const auto folder = [&](const TensorRecord& tensor) {
    return index.folders()[index.files()[tensor.file].folder].identity;
  };
  for (const uint32_t place : join.tensors_of(join.groups()[pairs.front().group])) {
    const TensorRecord& tensor = tensors[place];
    if (tensor.name.io != io || parse_u64(tensor.name.slot) != slot || !tensor.has_elements || tensor.broken) continue;
    if (like == nullptr) return &tensor;
    if (tensor.occurrence == like->occurrence && folder(tensor).step == folder(*like).step) return &tensor;
  }
  return nullptr;
}

}  // namespace

Agreement compare_elements(const DumpIndex& index, const TensorRecord& a, const TensorRecord& b) {
  auto left = HostTensor::open(index, a, {}), right = HostTensor::open(index, b, {});
  if (!left || !right) return Agreement::kUnknown;
  if (left->dtype() != right->dtype() || left->count() != right->count()) return Agreement::kDifferent;
  if (left->count() == 0) return Agreement::kUnknown;
  std::vector<std::byte> buffer;
  const int64_t piece = std::min(left->count(), kPieceBytes / static_cast<int64_t>(left->element_bytes()));
  if (!equal_piece(*left, *right, 0, piece, buffer)) return Agreement::kDifferent;
  const bool more = left->count() > piece && left->direct() && right->direct();
  if (more && !equal_piece(*left, *right, left->count() - piece, piece, buffer)) return Agreement::kDifferent;
  return Agreement::kEqual;
}

std::vector<ProofEdge> proof_edges(const std::vector<TensorRecord>& tensors, const DumpIndex& index,
                                   const OpGraph& graph, const FileJoin& join, OpId consumer) {
  std::vector<ProofEdge> edges;
  if (join.pairs_of(consumer).empty()) return edges;
  for (const InputEdge& input : inputs_of(graph, consumer)) {
    if (input.from != InputEdge::From::kOperator) continue;
    const TensorRecord* const in = best(tensors, join, consumer, Io::kInput, input.slot, nullptr, index);
    if (in == nullptr) continue;
    const TensorRecord* const out = best(tensors, join, input.op, Io::kOutput, input.output, in, index);
    if (out == nullptr) continue;
    edges.push_back({consumer, input.op, input.slot, input.output, static_cast<uint32_t>(in - tensors.data()),
                     static_cast<uint32_t>(out - tensors.data())});
  }
  return edges;
}

}  // namespace msdump
