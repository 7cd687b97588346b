// Which operator and which tensor of one side is which of the other: never by time stamp, task or stream.
//
//   0. what the user says (name_map.h)
//   1. operators with the same name and type on both sides, when the two sides have the same names throughout
//   2. else by where they stand: sequences of operators aligned by their neighbours in the data flow, then by type and
//      scope, then by what both frameworks call so, then by type (compare/match/alignment.h). Equal names prove nothing then: one operator more renumbers others
//   3. of what is left, names that only one operator on each side has, numbers apart
// Tensors of two operators: the same io, slot, step and occurrence; a side with a single step is compared with the other
// side's only one whatever the numbers are, a single rank likewise.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compare/match/name_map.h"
#include "compare/match/op_sequence.h"

namespace msdump {

enum class PairedBy : uint8_t { kName, kNeighbours, kSequence, kLeftName, kUser, kNothing };
[[nodiscard]] std::string_view explanation(PairedBy how);

struct OpPair {
  uint32_t a = kNoOperator, b = kNoOperator;  // in Pairing::a and Pairing::b
  PairedBy how = PairedBy::kNothing;
  double confidence = 0;
};

inline constexpr uint32_t kNoTensor = UINT32_MAX;

struct TensorPair {
  uint32_t op = 0;                        // in Pairing::operators
  uint32_t a = kNoTensor, b = kNoTensor;  // in the sides' tensors; one of them is there
};

struct Pairing {
  std::vector<SequencedOp> a, b;
  std::vector<OpPair> operators;    // in the order of b, the reference; those of a alone where they stand there
  std::vector<TensorPair> tensors;  // operator by operator; steps, then inputs before outputs, by slot
  bool other_framework = false;     // one side is msprobe's of PyTorch, the other is not
};

[[nodiscard]] Pairing pair_sides(const CompareSide& a, const CompareSide& b, const NameMap* map = nullptr);
// The one tensor of each side with the other, whatever they are called.
[[nodiscard]] Pairing pair_single(const CompareSide& a, const CompareSide& b);

}  // namespace msdump
