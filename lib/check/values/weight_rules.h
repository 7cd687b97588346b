// Rows and columns of a weight that are all zero: outputs that a layer never makes, inputs that it never uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/finding.h"
#include "check/rules/rules.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"
#include "parts/facts.h"

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

// The rules about the gradients of weights, layer by layer: what an optimizer was given (the inputs with as many elements
// as the weight that it updates), or what msprobe recorded as parameters_grad.

// Does an operator of this type update weights?
[[nodiscard]] bool is_optimizer(std::string_view op_type);

struct WeightGradient {
  uint32_t tensor = kNone;    // the producer's output, else the optimizer's input
  std::string_view weight{};  // as the IR names it; empty: not known
  std::optional<int64_t> rank, step;
};
[[nodiscard]] std::vector<WeightGradient> weight_gradients(const CheckedDump& dump, const FactsReader& facts);

// All facts must have been read.
void judge_gradients(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules,
                     std::vector<Finding>& findings);

// The rules about weights from one step to the next: unchanged, changed by too much or too little; in the first step;
// and about their rows in the last. Usually the numbers of two steps prove that a weight has changed; only otherwise are the two read again, side
// by side.

// All facts must have been read. Weights that cannot be read again are in `failures`; an error only when interrupted.
Status judge_weights(const CheckedDump& dump, const FactsReader& facts, const RuleSet& rules, const RunContext& context,
                     std::vector<Finding>& findings, std::vector<Error>& failures);

// The same weight step by step: indices of tensors, one list a weight, each in the order of steps.
[[nodiscard]] std::vector<std::vector<uint32_t>> weights_by_step(const CheckedDump& dump);

}  // namespace msdump::check
