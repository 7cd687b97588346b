// How much of two dumps is of one network: operators of which a pair of tensors has the same shape. Between releases and
// frameworks that are at least two in five; of two networks, whose types and even names are often the same, one in five.
#pragma once

#include <cstddef>
#include <vector>

#include "compare/match/op_sequence.h"

namespace msdump {

struct Pairing;

struct Likeness {
  size_t alike = 0;       // pairs of operators
  size_t comparable = 0;  // operators of the side with fewer; tensors of one element are not compared
  bool by_name = false;   // both sides have the same names throughout
  [[nodiscard]] bool two_networks() const { return !by_name && comparable >= 10 && alike * 10 < comparable * 3; }
};

// `outside_a`, `outside_b`: operators that do not count.
[[nodiscard]] Likeness likeness_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                   const std::vector<bool>& outside_a, const std::vector<bool>& outside_b);

}  // namespace msdump
