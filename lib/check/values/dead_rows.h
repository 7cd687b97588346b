// Rows and columns of a weight that are all zero: outputs that a layer never makes, inputs that it never uses.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/values/tensor_facts.h"
#include "io/cancel.h"
#include "parts/fact_codec.h"

namespace msdump::check {

// Is it a table of rows that are looked up or padded, so that zeros are usual?
[[nodiscard]] bool is_embedding_name(std::string_view weight);

struct DeadRows {
  Shape shape{};                          // of the weight; empty: not searched
  uint64_t rows = 0, columns = 0;         // how many are all zero
  std::string row_text{}, column_text{};  // which: "0, 7-9, 12, .."
};

void fields(auto& visit, FieldsOf<DeadRows> auto& value) { MSDUMP_FIELDS(shape, rows, columns, row_text, column_text); }

// Reads the elements once, slab by slab; only the header, if there are too few zeros for a row or column. Weights of
// less than two dimensions, of complex numbers, and those that are all zero are not searched.
[[nodiscard]] Result<DeadRows> find_dead_rows(const CheckedDump& dump, uint32_t tensor, const TensorFacts& facts,
                                              const CancelToken& cancel);

}  // namespace msdump::check
