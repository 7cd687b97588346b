// Rows and columns of a weight that are all zero: outputs that a layer never makes, inputs that it never uses.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/values/tensor_facts.h"
#include "io/cancel.h"

namespace msdump::check {

// Can a weight with these numbers have such a row or column? A row needs as many zeros as it has elements.
[[nodiscard]] bool may_have_dead_rows(const TensorFacts& facts, const Shape& shape);

// Is it a table of rows that are looked up or padded, so that zeros are usual?
[[nodiscard]] bool is_embedding_name(std::string_view weight);

struct DeadRows {
  uint64_t rows = 0, columns = 0;         // how many are all zero
  std::string row_text{}, column_text{};  // which: "0, 7-9, 12, .."
};

// `tensor` is floating, not complex, and passed may_have_dead_rows. Reads its elements once, slab by slab.
[[nodiscard]] Result<DeadRows> find_dead_rows(const CheckedDump& dump, uint32_t tensor, const CancelToken& cancel);

}  // namespace msdump::check
