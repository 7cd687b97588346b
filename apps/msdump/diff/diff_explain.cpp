#include "diff/diff_explain.h"

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "diff/diff_text.h"
#include "dump/names/identity_value.h"
#include "shared/graph_rows.h"

namespace msdump::cli {
namespace {

// "input 0"; with its operator where that is another one.
std::string slot_name(const DiffResult& run, uint32_t tensor, uint32_t op) {
  const TensorPair& pair = run.pairing.tensors[tensor];
  const NameFacts& name = run.record_of(pair).name;
  std::string text = fmt::format("{} {}", name_of(name.io), name.slot);
  return pair.op == op ? text : text + " of " + run.op_name(pair.op);
}

// Slots of msprobe may be names instead of numbers.
bool has_number(const InputAccount& input) { return input.slot != UINT32_MAX; }

std::string input_text(const DiffResult& run, const RunAccount& account, const InputAccount& input) {
  std::string text = input.tensor != kNoTensor ? slot_name(run, input.tensor, account.op)
                     : has_number(input)       ? fmt::format("input {}", input.slot)
                                               : "an input";
  if (!input.parameter.empty()) {
    text += ", parameter " + input.parameter;
  } else if (input.made_by != kNoOperator) {
    text += ", made by " + run.op_name(input.made_by);
  } else if (input.constant) {
    text += ", a constant";
  }
  if (!input.error) return text + ": not compared";
  if (input.exact) return text + ": equal";
  text += fmt::format(": error {:.2g}", *input.error);
  return input.gain ? text + fmt::format(", gain {:.2g}", *input.gain) : text;
}

std::string output_text(const DiffResult& run, const RunAccount& account, const OutputAccount& output) {
  std::string text = fmt::format("{}: error {:.2g}", slot_name(run, output.tensor, account.op), output.measured);
  if (!output.judged) return text + ", not judged";
  text += fmt::format("; {:.2g} expected: {:.2g} of the inputs, {:.2g} of its own rounding", output.expected,
                      output.propagated, output.noise);
  if (const std::string times = fmt::format("{:.2g}", output.correction); times != "1")
    text += fmt::format(", {} times both by its siblings", times);
  return text + fmt::format("; score {:.2g}", output.score);
}

void add_account(std::string& text, const DiffResult& run, const RunAccount& account) {
  add_line(text, "{}{}", run.op_name(account.op), place_text(run, account.op, account.place));
  if (const SourceFrame* const frame = run.frame(account.op); frame != nullptr)
    add_line(text, "  line  {}  {}", source_text(frame), frame->code);
  const char* label = "in";
  for (const InputAccount& input : account.inputs) {
    add_line(text, "  {:<4}  {}", label, input_text(run, account, input));
    label = "";
  }
  std::string through;
  for (const uint32_t op : account.through) through += (through.empty() ? "" : ", ") + run.op_name(op);
  if (!through.empty()) add_line(text, "  past  {}: what they read stands for what they wrote", through);
  label = "out";
  for (const OutputAccount& output : account.outputs) {
    add_line(text, "  {:<4}  {}", label, output_text(run, account, output));
    if (output.judged && output.siblings > 0)
      add_line(text, "        {}", siblings_text(output.siblings, output.sibling_median, output.sibling_spread));
    label = "";
  }
  add_line(text, "  so    {}", account.conclusion);
}

report::Object input_object(const DiffResult& run, const RunAccount& account, const InputAccount& input) {
  const bool dumped = input.tensor != kNoTensor;
  report::Object object;
  object.add("op_name", run.op_name(dumped ? run.pairing.tensors[input.tensor].op : account.op));
  if (dumped) {
    const NameFacts& name = run.record_of(run.pairing.tensors[input.tensor]).name;
    object.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
  } else {
    object.add("io", name_of(Io::kInput));
    object.add("slot", has_number(input) ? report::Value(input.slot) : report::Value());
  }
  object.add("made_by", input.made_by == kNoOperator ? report::Value() : report::Value(run.op_name(input.made_by)));
  object.add("parameter", report::text_or_null(input.parameter)).add("constant", input.constant);
  object.add("equal", input.exact).add("error", input.error);
  object.add("gain", rounded(input.gain));
  return object;
}

report::Object output_object(const DiffResult& run, const OutputAccount& output) {
  const NameFacts& name = run.record_of(run.pairing.tensors[output.tensor]).name;
  const auto known = [&](double value) { return output.judged ? report::Value(rounded(value)) : report::Value(); };
  report::Object object;
  object.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
  object.add("measured_error", output.measured).add("judged", output.judged);
  object.add("expected_error", known(output.expected)).add("propagated_error", known(output.propagated));
  object.add("own_error", known(output.noise)).add("correction", known(output.correction));
  object.add("score", known(output.score));
  object.add("siblings", output.judged ? siblings_value(output.siblings, output.sibling_median, output.sibling_spread)
                                       : report::Value());
  return object;
}

}  // namespace

std::string explain_text(const DiffResult& run) {
  std::string text;
  for (const RunAccount& account : run.divergence.accounts) {
    if (!text.empty()) text += '\n';
    add_account(text, run, account);
  }
  if (text.empty()) text = "none of its tensors was selected on either side\n";
  if (run.divergence.more_accounts > 0)
    text += fmt::format("\nand {} of it; --rank and --step select them\n",
                        plural(run.divergence.more_accounts, "more run"));
  return text;
}

report::List explain_value(const DiffResult& run) {
  report::List list;
  for (const RunAccount& account : run.divergence.accounts) {
    report::List inputs, outputs, through;
    for (const InputAccount& input : account.inputs) inputs.emplace_back(input_object(run, account, input));
    for (const OutputAccount& output : account.outputs) outputs.emplace_back(output_object(run, output));
    for (const uint32_t op : account.through) through.emplace_back(run.op_name(op));
    report::Object object;
    object.add("op_name", run.op_name(account.op)).add("op_type", run.op_type(account.op));
    object.add("rank", account.place.rank).add("step", account.place.step).add("occurrence", account.place.occurrence);
    object.add("source", source_value(run.frame(account.op)));
    object.add("inputs", std::move(inputs)).add("through", std::move(through)).add("outputs", std::move(outputs));
    object.add("threshold", rounded(account.threshold)).add("is_root", account.is_root);
    object.add("root", account.root_op ? report::Value(run.op_name(*account.root_op)) : report::Value());
    object.add("reason", account.conclusion);
    list.emplace_back(std::move(object));
  }
  return list;
}

}  // namespace msdump::cli
