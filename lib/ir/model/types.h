// Types as IR text prints them.
//
//   host    <DTYPE[SHAPE][, value=..][, ref_key=..][, sequence_nodes={..} | elements_use_flags={..}][, is_parameter]..>
//     1. DTYPE  Tensor[Float32], Ref[Tensor(F32)] (to 1.10), Ref[Tensor[Float32]]; Tuple[T,T*4], List[..]; Int64, Func,
//               UMonad, ..; null
//     2. SHAPE  "x[const vector][32, 3]" to 1.3, "x(32, 3)" 1.4, ", (32, 3)" from 1.5, ", TupleShape((2), ..)",
//               ", NoShape"; "{shape:(..)|min shape:(..)|..}" for dynamic ones; -2 alone: the rank is unknown
//   device  <DTYPExFORMAT[const vector][32, 16]>, from 2.3 {32, 16}, long ones {[0]:{32}, [1]:{16}}
//   object  Tensor, Scalar, Tuple, TupleUnfold, Unknown: no brackets
// "->" is not a bracket. The documentation's back-ticks around a type are not part of it. Of any other type only the
// text is known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/model/ir_graph.h"

namespace msdump {

struct ParsedType {
  struct Element {
    std::string text;  // as it would be printed alone
    size_t count = 1;  // repetitions in a row
  };
  IrType type;                     // its views are of the text; without elements
  std::vector<Element> elements;   // of a tuple
  bool elements_left_out = false;  // there are more than were allowed
};

// Unfolds at most `max_elements` ("T*65536" is short).
[[nodiscard]] ParsedType parse_ir_type(std::string_view text, size_t max_elements);

// The texts of the inputs and outputs of "(A, B) -> (C)". "(A)" alone is inputs; in "(A) -> (B) -> (C)", which the
// documentation has, all but the last are inputs. False if a bracket is missing: then it holds what could be separated.
bool split_signature(std::string_view text, std::vector<std::string_view>& inputs,
                     std::vector<std::string_view>& outputs);

}  // namespace msdump
