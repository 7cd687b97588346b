#include "shared/recomputed.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "frame/usage.h"
#include "shared/rows.h"

namespace msdump::cli {

using recompute::Judgement;

namespace {

const report::ObjectType& wrong_place_type() {
  static const report::ObjectType type{
      "WrongElements",
      "The box around the elements that are wrong.",
      {{.key = "from", .type = "integer[]", .text = "index of its first element"},
       {.key = "to", .type = "integer[]", .text = "index of its last element"},
       {.key = "multiple_of",
        .type = "integer|null",
        .text = "largest power of two, from 16 on, that divides the edges inside the output, if all of it is wrong"}}};
  return type;
}

const report::ObjectType& asked_type() {
  static const report::ObjectType type{
      "AskedArgument",
      "An argument that the operator was computed again with.",
      {{.key = "name", .type = "string", .text = "as msdump names it"},
       {.key = "value", .type = "string", .text = "its value"},
       {.key = "from", .type = "string", .text = "file, ir (the graph), attribute, call, default or fitted"}}};
  return type;
}

const report::ObjectType& instead_type() {
  static const report::ObjectType type{
      "Instead",
      "A mistake that reproduces the output.",
      {{.key = "what",
        .type = "string",
        .text = "input_handed_on, all_zero, other_argument, operand_transposed, operand_left_out, last_left_out, "
                "operand_twice, "
                "operand_negated, operands_exchanged, other_operator, output_rolled, output_reversed, "
                "output_transposed, one_writer, lower_precision, other_output, other_constant, offset, factor, "
                "tail_not_written or not_finite"},
       {.key = "value", .type = "string|null", .text = "the operand, argument, axis, operator or number"},
       {.key = "units", .type = "number", .text = "error of the worst element against it, over what rounding can do"},
       {.key = "bits", .type = "number", .text = "length of its description: the shortest comes first"}}};
  return type;
}

const report::ObjectType& recomputed_kernel_type() {
  static const report::ObjectType type{
      "RecomputedKernel",
      "The outputs of one kind of operator that were computed again.",
      {{.key = "kernel", .type = "string", .text = "what computes them"},
       {.key = "outputs", .type = "integer", .text = "outputs that were judged"},
       {.key = "largest_right",
        .type = "number",
        .text = "error of the worst element of those that are right, over what rounding can do"},
       {.key = "limit", .type = "number", .text = "beyond this an output is wrong; 0: outputs are compared exactly"}}};
  return type;
}

const report::ObjectType& not_judged_type() {
  static const report::ObjectType type{
      "NotRecomputed",
      "Executions that were not computed again.",
      {{.key = "reason",
        .type = "string",
        .text = "no_kernel, no_input, old_value, unknown_argument, random, statistics_only, too_large, format, shape, "
                "unreadable, region, forward_wrong, noise or slice"},
       {.key = "op_type", .type = "string", .text = "type of the operators"},
       {.key = "what", .type = "string|null", .text = "the input, argument or file that lacks"},
       {.key = "operators", .type = "integer", .text = "executions"}}};
  return type;
}

}  // namespace

const report::ObjectType& recompute_summary_type() {
  static const report::ObjectType type{
      "RecomputeSummary",
      "Operators that were computed again from their own dumped inputs.",
      {{.key = "operators",
        .type = "integer",
        .text = "executions that were asked: in diff those whose outputs differ"},
       {.key = "right", .type = "integer", .text = "executions whose judged outputs are what their inputs lead to"},
       {.key = "wrong", .type = "integer", .text = "executions with an output that is not"},
       {.key = "sampled",
        .type = "integer",
        .text = "of these, executions with a large product, of which some rows count"},
       {.key = "not_judged",
        .type = "object[]",
        .text = "the other executions by reason and type",
        .of = not_judged_type},
       {.key = "kernels", .type = "object[]", .text = "the kernels that were used", .of = recomputed_kernel_type}}};
  return type;
}

report::Value recompute_summary(const recompute::RecomputeCounts& counts) {
  if (counts.operators == 0) return {};
  const auto reason_object = [](const recompute::RecomputeCounts::OfReason& of) {
    report::Object reason;
    reason.add("reason", name_of(of.reason)).add("op_type", of.type).add("what", report::text_or_null(of.what));
    return std::move(reason.add("operators", of.operators));
  };
  const auto kernel_object = [](const recompute::RecomputeCounts::OfKernel& of) {
    report::Object kernel;
    kernel.add("kernel", of.kernel).add("outputs", of.outputs);
    return std::move(kernel.add("largest_right", of.largest_right).add("limit", of.limit));
  };
  report::Object object;
  object.add("operators", counts.operators).add("right", counts.right).add("wrong", counts.wrong);
  object.add("sampled", counts.sampled);
  object.add("not_judged", list_of(counts.not_judged, reason_object));
  return std::move(object.add("kernels", list_of(counts.kernels, kernel_object)));
}

Option recompute_option(recompute::Extent& extent, std::string_view group, std::string help,
                        std::vector<OptionRule> excludes) {
  const auto take = [&extent](const std::string& typed) {
    if (!typed.empty() && typed != "all" && typed != "sample")
      throw UsageError(fmt::format("--recompute: unknown extent '{}'", typed), "it is all or sample");
    extent = typed == "all" ? recompute::Extent::kAll : recompute::Extent::kSampled;
  };
  return {.names = "--recompute",
          .value = OptionValue::optional_text(take, "[EXTENT]"),
          .suggestions = {"sample", "all"},
          .group = group,
          .help = std::move(help) +
                  "; EXTENT sample (the default) computes some rows of large products and a projection of the others, "
                  "all computes products of up to 2^31 multiplications in full",
          .excludes = std::move(excludes)};
}

const report::ObjectType& recomputed_output_type() {
  static const report::ObjectType type{
      "RecomputedOutput",
      "An output that was computed again from the dumped inputs of its operator.",
      {{.key = "op_name", .type = "string", .text = "full scope name of the operator"},
       {.key = "op_type", .type = "string", .text = "its type"},
       {.key = "rank", .type = "integer|null", .text = "process of a distributed run"},
       {.key = "step", .type = "integer|null", .text = "iteration of the training run"},
       {.key = "slot", .type = "integer|string|null", .text = "which output"},
       {.key = "judgement", .type = "string", .text = "right or wrong"},
       {.key = "units", .type = "number", .text = "error of the worst element, over what rounding can do"},
       {.key = "limit", .type = "number", .text = "beyond this it is wrong; 0: it is compared exactly"},
       {.key = "class", .type = "string", .text = "the arithmetic that fits best: float32, low (16 bits) or tensor"},
       {.key = "relative_error", .type = "number", .unit = "relative L2", .text = "of all elements"},
       {.key = "slope", .type = "number|null", .text = "factor of all elements; null for few"},
       {.key = "wrong_elements", .type = "integer", .text = "elements beyond the limit"},
       {.key = "of", .type = "integer", .text = "elements that were judged"},
       {.key = "worst", .type = "integer[]", .text = "index of the worst element"},
       {.key = "sampled",
        .type = "number|null",
        .text = "some rows were computed, and a projection of all: the error of one element, over the root mean square "
                "of the output, that is surely found; null: all elements were computed"},
       {.key = "place", .type = "object|null", .text = "where the wrong elements are", .of = wrong_place_type},
       {.key = "reason", .type = "string|null", .text = "what is wrong, in words that may change"},
       {.key = "asked", .type = "object[]", .text = "numbers that it was computed with", .of = asked_type},
       {.key = "instead",
        .type = "object[]",
        .text = "what it computed instead, if that is known",
        .of = instead_type}}};
  return type;
}

report::Object recomputed_output(report::Object place, const recompute::OutputJudgement& output,
                                 const std::vector<recompute::AskedArgument>& asked) {
  const Judgement& judgement = output.judgement;
  report::Object object = std::move(place);
  object.add("judgement", judgement.is_wrong() ? "wrong" : "right").add("units", judgement.units);
  object.add("limit", judgement.limit).add("class", name_of(judgement.precision));
  object.add("relative_error", judgement.relative_error).add("slope", judgement.slope);
  object.add("wrong_elements", judgement.wrong).add("of", judgement.elements);
  object.add("worst", report::list_of(judgement.worst)).add("sampled", judgement.sampled);
  report::Value box;
  if (judgement.place) {
    report::Object edges;
    edges.add("from", report::list_of(judgement.place->from)).add("to", report::list_of(judgement.place->to));
    const int64_t multiple = judgement.place->multiple_of;
    edges.add("multiple_of", multiple > 0 ? report::Value(multiple) : report::Value());
    box = std::move(edges);
  }
  object.add("place", std::move(box));
  object.add("reason", judgement.is_wrong() ? report::Value(recompute::describe_wrong(output)) : report::Value());
  object.add("asked", list_of(asked, [](const recompute::AskedArgument& one) {
               report::Object argument;
               return std::move(argument.add("name", one.name).add("value", one.value).add("from", name_of(one.from)));
             }));
  object.add("instead", list_of(output.instead, [](const recompute::Instead& one) {
               report::Object mistake;
               mistake.add("what", name_of(one.what)).add("value", report::text_or_null(one.value));
               return std::move(mistake.add("units", one.units).add("bits", one.bits));
             }));
  return object;
}

void add_wrong_output(const recompute::OutputJudgement& output, const std::vector<recompute::AskedArgument>& asked,
                      report::PageCause& cause) {
  const Judgement& judgement = output.judgement;
  if (!judgement.worst.empty())
    cause.facts.push_back(
        {"worst element", fmt::format("{:.6g} at [{}], where its inputs lead to {:.6g}", judgement.worst_value,
                                      fmt::join(judgement.worst, ", "), judgement.worst_expected)});
  for (const recompute::Instead& instead : output.instead)
    cause.facts.push_back({"instead", escape_for_terminal(recompute::describe(instead))});
  std::string arguments;
  for (const recompute::AskedArgument& one : asked)
    arguments += fmt::format("{}{} = {} ({})", arguments.empty() ? "" : ", ", one.name, one.value, name_of(one.from));
  if (!arguments.empty()) cause.facts.push_back({"asked", escape_for_terminal(arguments)});
  if (!judgement.place) return;
  if (const std::string place = recompute::describe_place(judgement); !place.empty())
    cause.facts.push_back({"region", place});
  const auto& [from, to, multiple] = *judgement.place;
  if (judgement.shape.size() == 2)
    cause.region = {{judgement.shape[0], judgement.shape[1]}, {from[0], from[1]}, {to[0], to[1]}};
}

}  // namespace msdump::cli
