// The keys of the documents of msdump diff.
#include "compare/pair/metric_table.h"
#include "diff/diff_rows.h"
#include "diff/diff_tokens.h"
#include "diff/diff_weights.h"
#include "shared/began_report.h"
#include "shared/recomputed.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

using report::Key;
using report::ObjectType;

Key op_name_key() { return {.key = "op_name", .type = "string", .text = "full scope name of the operator"}; }
Key op_type_key() { return {.key = "op_type", .type = "string", .text = "type of the operator"}; }
Key rank_key() { return {.key = "rank", .type = "integer|null", .text = "process of a distributed run"}; }
Key step_key() { return {.key = "step", .type = "integer|null", .text = "iteration of the training run"}; }
Key io_key() { return {.key = "io", .type = "string", .text = "input, output or parameter"}; }
Key slot_key() { return {.key = "slot", .type = "integer|string|null", .text = "which of them"}; }
Key several_key() {
  return {.key = "one_of_several",
          .type = "boolean",
          .text = "the line is called several times, and nothing tells which call this operator is"};
}
Key measured_key() {
  return {.key = "measured_error", .type = "number|null", .unit = "relative L2", .text = "error that was measured"};
}
Key expected_key() {
  return {
      .key = "expected_error",
      .type = "number|null",
      .unit = "relative L2",
      .text =
          "error that the errors of the inputs and the arithmetic of the dtype explain; null if no model judges it"};
}
Key score_key() {
  return {.key = "score", .type = "number|null", .text = "measured error over expected error, among its siblings"};
}

const ObjectType& metrics_type() {
  static const ObjectType type = [] {
    ObjectType metrics{"Metrics", "Metrics of two tensors; null where one is not defined or nothing was compared.", {}};
    for (const Metric& metric : all_metrics())
      metrics.keys.push_back(
          {.key = metric.name, .type = "number|integer|null", .unit = name_of(metric.unit), .text = metric.formula});
    return metrics;
  }();
  return type;
}

const ObjectType& element_type() {
  static const ObjectType type{"Element",
                               "An element of two tensors.",
                               {{.key = "index", .type = "integer[]", .text = "its index"},
                                {.key = "a", .type = "number", .text = "value of the candidate"},
                                {.key = "b", .type = "number", .text = "value of the reference"}}};
  return type;
}

const ObjectType& limits_type() {
  static const ObjectType type{
      "Limits",
      "Limits of |a - b| <= atol + rtol |b|.",
      {{.key = "rtol", .type = "number", .text = "relative"}, {.key = "atol", .type = "number", .text = "absolute"}}};
  return type;
}

const ObjectType& range_type() {
  static const ObjectType type{
      "AxisRange",
      "A range of positions along an axis.",
      {{.key = "first", .type = "integer", .text = "first position"},
       {.key = "last", .type = "integer", .text = "last position"},
       {.key = "share", .type = "number", .unit = "0..1", .text = "of the squared error, or of the mismatches"},
       {.key = "max_abs", .type = "number", .text = "largest |a - b|"},
       {.key = "mismatches", .type = "integer", .text = "pairs of which one side is not finite"}}};
  return type;
}

const ObjectType& axis_type() {
  static const ObjectType type{
      "Axis",
      "How the error is distributed along an axis; --by-axis.",
      {{.key = "axis", .type = "integer", .text = "which axis"},
       {.key = "extent", .type = "integer", .text = "its length"},
       {.key = "carried", .type = "number", .unit = "0..1", .text = "share of the error that lies in the ranges"},
       {.key = "ranges", .type = "object[]", .text = "the ranges with most of it", .of = range_type}}};
  return type;
}

const ObjectType& evidence_tensor_type() {
  static const ObjectType type{
      "EvidenceTensor",
      "An input or output of a root.",
      {op_name_key(),
       io_key(),
       slot_key(),
       {.key = "verdict", .type = "string", .text = "verdict of its row"},
       {.key = "relative_l2", .type = "number|null", .unit = "relative L2", .text = "its error"}}};
  return type;
}

const ObjectType& evidence_type() {
  static const ObjectType type{
      "Evidence",
      "The tensors that were compared at a root.",
      {{.key = "inputs", .type = "object[]", .text = "inputs of the operator", .of = evidence_tensor_type},
       {.key = "outputs", .type = "object[]", .text = "outputs of the operator", .of = evidence_tensor_type}}};
  return type;
}

const ObjectType& argument_type() {
  static const ObjectType type{"DivergedArgument",
                               "An argument of a call that differs and is no tensor.",
                               {{.key = "slot", .type = "string", .text = "position or keyword"},
                                {.key = "a", .type = "string", .text = "value of the candidate"},
                                {.key = "b", .type = "string", .text = "value of the reference"}}};
  return type;
}

const ObjectType& siblings_type() {
  static const ObjectType type{
      "Siblings",
      "Operators of the same type that are judged alike.",
      {{.key = "count", .type = "integer", .text = "how many"},
       {.key = "median", .type = "number", .text = "median of their measured over their expected error"},
       {.key = "spread", .type = "number", .text = "factor by which they lie around the median"}}};
  return type;
}

const ObjectType& place_type() {
  static const ObjectType type{"DivergencePlace",
                               "A further operator of the same line of the script that diverges.",
                               {op_name_key(), rank_key(), step_key()}};
  return type;
}

const ObjectType& candidate_type() {
  static const ObjectType type{"CandidateOperator",
                               "An operator that was not dumped, of which one is the cause.",
                               {op_name_key(), op_type_key(), source_key(), several_key()}};
  return type;
}

const ObjectType& configs_type() {
  static const ObjectType type{
      "DumpConfigs",
      "Configurations that dump the candidates, as far as they have to be set.",
      {{.key = "candidate", .type = "object", .text = "data_dump.json or msprobe's config.json of the candidate"},
       {.key = "reference", .type = "object", .text = "the same of the reference"}}};
  return type;
}

const ObjectType& cut_line_type() {
  static const ObjectType type{"CutLine",
                               "A line of the script with operators that one side has alone.",
                               {source_key(), {.key = "operators", .type = "integer", .text = "how many"}}};
  return type;
}

const ObjectType& cut_type() {
  static const ObjectType type{
      "GradientCut",
      "Operators of the backward pass that one side has alone.",
      {{.key = "only_in", .type = "string", .text = "candidate or reference"},
       source_key(),
       {.key = "operators", .type = "integer", .text = "how many"},
       {.key = "lines", .type = "object[]", .text = "by the line of the forward operator", .of = cut_line_type}}};
  return type;
}

const ObjectType& relation_type() {
  static const ObjectType type{"ParameterRelation",
                               "How parameters of two checkpoints correspond.",
                               {{.key = "kind", .type = "string", .text = "renamed, transposed, concatenated, ..."},
                                {.key = "text", .type = "string", .text = "names of both sides, with * for numbers"},
                                {.key = "count", .type = "integer", .text = "parameters with this relation"}}};
  return type;
}

const ObjectType& explained_counts_type() {
  static const ObjectType type{
      "ExplainedCounts",
      "Tensors that differ, by explanation.",
      {{.key = "noise", .type = "integer", .text = "error that the arithmetic explains"},
       {.key = "downstream", .type = "integer", .text = "error of an operator before"},
       {.key = "unwritten", .type = "integer", .text = "memory that the operator does not write"},
       {.key = "random", .type = "integer", .text = "output of a generator of random numbers"},
       {.key = "fused", .type = "integer", .text = "inside a fused operator of one side"},
       {.key = "inert", .type = "integer", .text = "no operator reads it"},
       {.key = "elsewhere", .type = "integer", .text = "its cause is named elsewhere"}}};
  return type;
}

const ObjectType& limit_type() {
  static const ObjectType type{"ReachedLimit",
                               "A bound of the search that was reached and can change the answer.",
                               {{.key = "name", .type = "string", .text = "which bound"},
                                {.key = "limit", .type = "integer", .text = "its value"},
                                {.key = "effect", .type = "string", .text = "what was left out"}}};
  return type;
}

const ObjectType& input_account_type() {
  static const ObjectType type{
      "InputAccount",
      "An input of the operator that --explain accounts for.",
      {op_name_key(),
       io_key(),
       slot_key(),
       {.key = "made_by", .type = "string|null", .text = "operator that produced it"},
       {.key = "parameter", .type = "string|null", .text = "parameter that it is"},
       {.key = "constant", .type = "boolean", .text = "a constant of the graph"},
       {.key = "equal", .type = "boolean", .text = "equal on both sides"},
       {.key = "error", .type = "number|null", .unit = "relative L2", .text = "its error"},
       {.key = "gain", .type = "number|null", .text = "factor with which its error reaches the output"}}};
  return type;
}

const ObjectType& output_account_type() {
  static const ObjectType type{
      "OutputAccount",
      "An output of the operator that --explain accounts for.",
      {io_key(),
       slot_key(),
       measured_key(),
       {.key = "judged", .type = "boolean", .text = "a model judges it; the following are null if not"},
       expected_key(),
       {.key = "propagated_error", .type = "number|null", .unit = "relative L2", .text = "share of the inputs"},
       {.key = "own_error", .type = "number|null", .unit = "relative L2", .text = "share of the arithmetic"},
       {.key = "correction", .type = "number|null", .text = "factor by which the siblings differ from the model"},
       score_key(),
       {.key = "siblings", .type = "object|null", .text = "operators of the same type", .of = siblings_type},
       {.key = "recompute",
        .type = "object|null",
        .text = "the output, computed again from the operator's own inputs; null if it was not",
        .of = recomputed_output_type}}};
  return type;
}

const ObjectType& diff_type() {
  static const ObjectType type{
      "Comparison",
      "A pair of tensors, a tensor without partner, or an argument of a call (io is argument).",
      {{.key = "a", .type = "object|null", .text = "tensor of the candidate", .of = tensor_type},
       {.key = "b", .type = "object|null", .text = "tensor of the reference", .of = tensor_type},
       op_name_key(),
       op_type_key(),
       rank_key(),
       {.key = "graph", .type = "integer|null", .text = "id of the graph"},
       step_key(),
       dump_key(),
       {.key = "io", .type = "string", .text = "input, output, parameter, debug or argument"},
       slot_key(),
       {.key = "order", .type = "integer|null", .text = "position of the operator in the data flow, from 0"},
       {.key = "verdict",
        .type = "string",
        .text = "same, close (within the tolerance), differ, nan, shape, dtype, unmatched, empty or skipped"},
       {.key = "reason", .type = "string|null", .text = "why, in words that may change"},
       source_key(),
       {.key = "metrics",
        .type = "object",
        .text = "what was measured, of the elements that are finite on both sides",
        .of = metrics_type},
       {.key = "worst", .type = "object|null", .text = "element with the largest |a - b|", .of = element_type},
       {.key = "tolerance_that_passes",
        .type = "object|null",
        .text = "smallest limits of the default's form that the pair keeps",
        .of = limits_type},
       {.key = "a_value", .type = "any", .text = "value of an argument of the candidate, else null"},
       {.key = "b_value", .type = "any", .text = "value of an argument of the reference, else null"},
       {.key = "paired_by", .type = "string|null", .text = "how the operators were paired; null without partner"},
       {.key = "pair_confidence", .type = "number|null", .unit = "0..1", .text = "that the pair is right"},
       {.key = "accepted", .type = "boolean", .text = "--baseline accepts the difference"},
       {.key = "explained",
        .type = "string|null",
        .text = "why a difference is not to blame on the operator: noise, downstream, unwritten, random, fused, inert, "
                "elsewhere"},
       {.key = "unjudged", .type = "string|null", .text = "why no model judges the tensor"},
       {.key = "measured_error",
        .type = "number|null?",
        .unit = "relative L2",
        .text = "error that was measured; null if one side is not finite, missing for an argument"},
       {.key = "expected_error",
        .type = "number|null?",
        .unit = "relative L2",
        .text = "error that the errors of the inputs and the arithmetic of the dtype explain"},
       {.key = "score", .type = "number|null?", .text = "measured over expected error, among the siblings"},
       {.key = "loss_scale", .type = "number|null?", .text = "scale of the loss that was divided out; null for none"},
       {.key = "nonfinite", .type = "integer|null?", .text = "elements that one side alone has not finite"},
       {.key = "layout", .type = "string|null?", .text = "how the candidate's tensor is sharded over its ranks"},
       {.key = "reference_layout", .type = "string|null?", .text = "the same of the reference"},
       {.key = "layout_confidence", .type = "number|null?", .unit = "0..1", .text = "that this is right"},
       {.key = "ranks", .type = "integer[]?", .text = "ranks whose shard differs, if the runs are sharded differently"},
       {.key = "tokens",
        .type = "object|null?",
        .text = "errors by token, if rows are compared by the tokens that they are of; null for other tensors",
        .of = row_tokens_type},
       {.key = "worst_elements", .type = "object[]?", .text = "with --worst", .of = element_type},
       {.key = "axes", .type = "object[]?", .text = "with --by-axis", .of = axis_type}}};
  return type;
}

const ObjectType& diff_summary_type() {
  static const ObjectType type{
      "DiffSummary",
      "Counts of a comparison, and its verdict.",
      {{.key = "compared", .type = "integer", .text = "tensors and arguments that were compared"},
       {.key = "same", .type = "integer", .text = "rows of this verdict"},
       {.key = "close", .type = "integer", .text = "rows of this verdict"},
       {.key = "differ", .type = "integer", .text = "rows of this verdict"},
       {.key = "nan", .type = "integer", .text = "rows of this verdict"},
       {.key = "shape", .type = "integer", .text = "rows of this verdict"},
       {.key = "dtype", .type = "integer", .text = "rows of this verdict"},
       {.key = "unmatched", .type = "integer", .text = "rows of this verdict"},
       {.key = "empty", .type = "integer", .text = "rows of this verdict"},
       {.key = "skipped", .type = "integer", .text = "rows of this verdict"},
       {.key = "explained",
        .type = "object",
        .text = "tensors that differ, by explanation",
        .of = explained_counts_type},
       {.key = "unexplained", .type = "integer", .text = "tensors that differ and nothing explains"},
       {.key = "reshaped", .type = "integer", .text = "tensors that were compared in another shape"},
       {.key = "arguments", .type = "integer", .text = "arguments of calls"},
       {.key = "accepted", .type = "integer", .text = "differences that --baseline accepts"},
       {.key = "failed", .type = "integer", .text = "inputs that could not be read"},
       {.key = "verdict", .type = "string|null", .text = "same, close or differ; null if there are no rows"},
       {.key = "limits", .type = "object[]", .text = "bounds that were reached", .of = limit_type},
       {.key = "recompute",
        .type = "object|null",
        .text = "how many operators that differ were computed again by what the reference asks",
        .of = recompute_summary_type},
       {.key = "fails",
        .type = "boolean|null",
        .text = "something differs that --fail-on is for; null if there are no rows"}}};
  return type;
}

const ObjectType& root_type() {
  static const ObjectType type{
      "Divergence",
      "An operator that differs more than its inputs and its arithmetic explain, or a value that enters the graph and "
      "differs already.",
      {{.key = "op_name", .type = "string", .text = "operator, or the parameter or input that differs"},
       {.key = "op_type", .type = "string", .text = "type of the operator; Parameter"},
       rank_key(),
       {.key = "graph", .type = "integer|null", .text = "id of the graph"},
       step_key(),
       dump_key(),
       {.key = "ranks", .type = "integer[]?", .text = "ranks whose shard differs, if the runs are sharded differently"},
       {.key = "order", .type = "integer|null", .text = "position in the data flow, from 0"},
       source_key(),
       several_key(),
       stack_key(),
       {.key = "kind", .type = "string", .text = "value, nan, shape, missing, parameter, input, ..."},
       {.key = "decided_by",
        .type = "string",
        .text =
            "the evidence (docs/blame.md): asked (it was asked something else), computed (it computes something else), "
            "handed_on (it reads something else than what was written), or estimate (its error is larger than what is "
            "expected)"},
       {.key = "rule",
        .type = "string",
        .text = "the rule that names it: graph, argument, missing, ... (docs/blame.md)"},
       {.key = "confidence",
        .type = "number",
        .unit = "0..1",
        .text = "share of right causes among those that the rule named in nets that it was not written for"},
       {.key = "reason", .type = "string", .text = "why, in words that may change"},
       {.key = "evidence", .type = "object", .text = "its inputs and outputs", .of = evidence_type},
       {.key = "downstream", .type = "integer", .text = "tensors that differ because of it"},
       {.key = "arguments", .type = "object[]", .text = "arguments of the call that differ", .of = argument_type},
       {.key = "amplification",
        .type = "number|null",
        .text = "error of the output over that of the inputs; null if the inputs are equal"},
       measured_key(),
       expected_key(),
       score_key(),
       {.key = "siblings", .type = "object|null", .text = "operators of the same type", .of = siblings_type},
       {.key = "places", .type = "object[]", .text = "further operators of the same line", .of = place_type},
       {.key = "candidates", .type = "object[]", .text = "operators of which one is the cause", .of = candidate_type},
       {.key = "dump_config", .type = "object|null", .text = "what dumps the candidates", .of = configs_type},
       {.key = "gradient_cut", .type = "object|null", .text = "gradients that one side lacks", .of = cut_type},
       {.key = "read_by", .type = "string|null", .text = "operator that reads the parameter or input"},
       {.key = "recompute",
        .type = "object|null",
        .text = "its output, computed again from its own inputs, if that is why it is a root; else null",
        .of = recomputed_output_type}}};
  return type;
}

const ObjectType& account_type() {
  static const ObjectType type{
      "Account",
      "What is expected of an operator and why; --explain.",
      {op_name_key(),
       op_type_key(),
       rank_key(),
       step_key(),
       dump_key(),
       {.key = "occurrence", .type = "integer", .text = "executions of the operator in the same step before this one"},
       source_key(),
       {.key = "inputs", .type = "object[]", .text = "its inputs", .of = input_account_type},
       {.key = "through", .type = "string[]", .text = "operators between it and its inputs that were not dumped"},
       {.key = "outputs", .type = "object[]", .text = "its outputs", .of = output_account_type},
       {.key = "threshold", .type = "number", .text = "score from which on an operator is a root"},
       {.key = "is_root", .type = "boolean", .text = "it is one"},
       {.key = "root", .type = "string|null", .text = "operator whose error it has"},
       {.key = "reason", .type = "string", .text = "conclusion, in words that may change"}}};
  return type;
}

}  // namespace

std::vector<report::DocumentType> diff_documents() {
  return {
      {.name = "diff",
       .text = "The comparison of two dumps.",
       .row = &diff_type(),
       .summary = &diff_summary_type(),
       .further = {
           {.key = "first_divergence",
            .type = "object[]",
            .text = "causes of the differences, the most certain first",
            .of = root_type},
           {.key = "error_growth",
            .type = "number[]",
            .unit = "relative L2",
            .text = "median error along the data flow, in equal parts of it"},
           {.key = "loss_scale", .type = "number|null", .text = "scale of the loss that was divided out"},
           {.key = "error_at_start",
            .type = "number|null",
            .unit = "relative L2",
            .text = "of a quarter of the values that enter the first dumped step, or more: what steps before it have "
                    "left; null if step 0 was dumped"},
           {.key = "explain", .type = "object[]|null", .text = "with --explain", .of = account_type},
           {.key = "tokens",
            .type = "object|null",
            .text = "if rows are compared by the tokens that they are of: which, and the first that is wrong",
            .of = tokens_type},
           {.key = "weights",
            .type = "object|null",
            .text = "with --weights, if the reference has several versions: which of them each parameter is of",
            .of = weights_type},
           {.key = "began",
            .type = "object|null",
            .text = "in dumps of several steps: with which tensor, and when, the two histories diverge",
            .of = began_type},
           {.key = "relations",
            .type = "object[]?",
            .text = "for checkpoints: how their parameters correspond",
            .of = relation_type}}}};
}

}  // namespace msdump::cli
