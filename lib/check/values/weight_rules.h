// Rules about weights and their gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/rules/rule_context.h"
#include "check/values/tensor_facts.h"
#include "io/run_context.h"

namespace msdump::check {

// ---- rows of a weight

// True for a table of rows that are looked up or padded, so that zeros are usual.
[[nodiscard]] bool is_embedding_name(std::string_view weight);

// Rows and columns that are all zero: outputs that a layer never produces, inputs that it never uses.
struct DeadRows {
  Shape shape{};                          // of the weight; empty: not searched
  uint64_t rows = 0, columns = 0;         // how many are all zero
  std::string row_text{}, column_text{};  // their numbers: "0, 7-9, 12, .."
};

// Reads the elements once, slab by slab. If there are too few zeros for a row or column, it reads only the header. Weights of
// less than two dimensions, weights of complex numbers and weights that are all zero are not searched.
[[nodiscard]] Result<DeadRows> find_dead_rows(const CheckedDump& dump, TensorId tensor, const TensorFacts& facts,
                                              const CancelToken& cancel);

// ---- gradients

// True if operators of this type update weights.
[[nodiscard]] bool is_optimizer(std::string_view op_type);

// The gradient of a weight: an input of its optimizer with as many elements, or what msprobe recorded as parameters_grad.
struct WeightGradient {
  TensorId tensor;            // the producer's output, else the optimizer's input
  std::string_view weight{};  // as the IR names it; empty: not known
  std::optional<int64_t> rank, step;
};
[[nodiscard]] std::vector<WeightGradient> weight_gradients(const CheckedDump& dump, const FactsReader& facts);

// Compares the gradients of a step layer by layer. All facts must have been read.
void judge_gradients(RuleContext& context);

// ---- weights from step to step

// Judges a weight in the first step, its change from one step to the next, and its rows in the last step. If the numbers of
// two steps do not prove a change, both are read again, side by side. All facts must have been read. A weight that cannot be
// read is a failure of the context; an error only when interrupted.
Status judge_weights(RuleContext& context);

// The tensors of each weight, in the order of steps.
[[nodiscard]] std::vector<std::vector<TensorId>> weights_by_step(const CheckedDump& dump);

}  // namespace msdump::check
