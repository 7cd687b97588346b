#include "compare/match/likeness.h"

#include <algorithm>

#include "compare/match/pairing.h"
#include "tensor/shape.h"

namespace msdump {
namespace {

Shape shape_of(const CompareSide& side, uint32_t tensor) {
  const Shape* const shape = (*side.tensors)[tensor].shape;
  return shape == nullptr ? Shape() : without_ones(*shape);
}

size_t comparable_operators(const CompareSide& side, const std::vector<SequencedOp>& operators,
                            const std::vector<bool>& outside) {
  size_t comparable = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    const std::vector<uint32_t>& tensors = operators[i].tensors;
    const auto has_shape = [&](uint32_t tensor) { return !shape_of(side, tensor).empty(); };
    if (!outside[i] && std::any_of(tensors.begin(), tensors.end(), has_shape)) ++comparable;
  }
  return comparable;
}

}  // namespace

Likeness likeness_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                     const std::vector<bool>& outside_a, const std::vector<bool>& outside_b) {
  Likeness result;
  result.comparable =
      std::min(comparable_operators(a, pairing.a, outside_a), comparable_operators(b, pairing.b, outside_b));
  uint32_t last = kNoOperator;  // pairs of tensors are in the order of the operators
  for (const TensorPair& pair : pairing.tensors) {
    if (pair.a == kNoTensor || pair.b == kNoTensor || pair.op == last) continue;
    const Shape shape = shape_of(a, pair.a);
    if (shape.empty() || shape != shape_of(b, pair.b)) continue;
    ++result.alike;
    last = pair.op;
  }
  result.by_name = std::all_of(pairing.operators.begin(), pairing.operators.end(),
                               [](const OpPair& pair) { return pair.b == kNoOperator || pair.how == PairedBy::kName; });
  return result;
}

}  // namespace msdump
