#include "compare/pair/precision.h"

#include <map>

#include "compare/pair/tolerance.h"

namespace msdump {

std::optional<DType> coarser_throughout(const CompareSide& a, const CompareSide& b, const Pairing& pairing) {
  constexpr size_t kOneIn = 10;
  size_t floats = 0;
  std::map<double, std::pair<size_t, DType>> coarser;  // by tolerance
  for (const TensorPair& pair : pairing.tensors) {
    if (!pair.is_paired()) continue;
    const DType of_a = (*a.tensors)[pair.a].name.dtype, of_b = (*b.tensors)[pair.b].name.dtype;
    const double left = default_rtol(of_a), right = default_rtol(of_b);
    if (left == 0 || right == 0) continue;
    ++floats;
    if (left > right) {
      auto& [count, dtype] = coarser[left];
      ++count;
      dtype = of_a;
    }
  }
  for (auto found = coarser.rbegin(); found != coarser.rend(); ++found) {
    if (found->second.first * kOneIn >= floats) return found->second.second;
  }
  return std::nullopt;
}

}  // namespace msdump
