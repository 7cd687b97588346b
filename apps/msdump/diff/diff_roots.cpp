#include "diff/diff_roots.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "diff/diff_rows.h"
#include "diff/diff_text.h"
#include "diff/diff_tokens.h"
#include "divergence/roots/cut_text.h"
#include "dump/names/identity.h"
#include "shared/recomputed.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

// "level": "mix", "statistics": {"list": ["Module.fc.Block.forward.0"]}
std::string settings_text(const MsprobeSettings& settings) {
  std::string names;
  for (const auto& list : {settings.scope, settings.list}) {
    for (const std::string& name : list) names += fmt::format(R"({}"{}")", names.empty() ? "" : ", ", name);
  }
  return fmt::format(R"("level": "{}", {}"{}": {{"{}": [{}]}})", settings.level,
                     settings.all_risks ? R"("risk_level": "ALL", )" : "", settings.task,
                     settings.scope.empty() ? "list" : "scope", names);
}

report::Object settings_object(const MsprobeSettings& settings) {
  report::Object block, object;
  if (!settings.scope.empty()) block.add("scope", report::list_of(settings.scope));
  if (!settings.list.empty()) block.add("list", report::list_of(settings.list));
  object.add("task", settings.task).add("level", settings.level);
  if (settings.all_risks) object.add("risk_level", "ALL");
  return std::move(object.add(std::string(settings.task), std::move(block)));
}

std::string kernels_text(const std::vector<std::string>& kernels) {
  const auto quoted = [](const std::string& name) { return '"' + name + '"'; };
  return fmt::format(R"("dump_mode": 1, "kernels": [{}])", first_of(kernels, quoted));
}

report::Object kernels_object(const std::vector<std::string>& kernels) {
  report::Object settings, object;
  settings.add("dump_mode", 1).add("kernels", report::list_of(kernels));
  return std::move(object.add("common_dump_settings", std::move(settings)));
}

// " (Mul, rank 0, step 1)", without unknown parts.
std::string place_text(const DiffResult& run, OperatorId op, const RunPlace& place,
                       std::span<const int64_t> ranks = {}) {
  std::string text(run.op_type(op));
  const auto add = [&](std::string_view word, std::optional<int64_t> number) {
    if (number) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, *number);
  };
  if (const std::string_view dump = run.pairing.dump_name(place.dump); !dump.empty())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dump_text(dump));
  add("rank", place.rank);
  if (!ranks.empty()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", ranks.size() == 1 ? "rank" : "ranks", ranges_text(ranks));
  }
  add("step", place.step);
  if (place.occurrence > 0) add("run", place.occurrence);
  return text.empty() ? text : " (" + text + ")";
}

// "31 similar operators have 0.7 to 1.4 times what is expected of them"
std::string siblings_text(const OutputScore& score) {
  const bool one = score.siblings == 1;
  if (score.siblings == 0) return "no similar operators";
  const std::string low = fmt::format("{:.2g}", score.sibling_median / score.sibling_spread),
                    high = fmt::format("{:.2g}", score.sibling_median * score.sibling_spread);
  return fmt::format("{} {} {} times what is expected of {}", plural(score.siblings, "similar operator"),
                     one ? "has" : "have", low == high ? low : low + " to " + high, one ? "it" : "them");
}

// "confidence 0.75: 3 of 4 such roots were right"; a confidence is a multiple of 0.05.
std::string confidence_text(double confidence) {
  const int twentieths = static_cast<int>(std::lround(20 * confidence)), common = std::gcd(twentieths, 20);
  return fmt::format("confidence {:.2g}: {} of {} such roots were right", confidence, twentieths / common, 20 / common);
}

report::Object siblings_value(const OutputScore& score) {
  report::Object siblings;
  siblings.add("count", uint64_t{score.siblings}).add("median", rounded(score.sibling_median));
  return std::move(siblings.add("spread", rounded(score.sibling_spread)));
}

// The judgement of an output that was computed again; null if it was not.
report::Value recomputed_value(const DiffResult& run, TensorId tensor, const RunPlace& at) {
  const ComputedOutput* const computed = run.computed.find(tensor);
  if (computed == nullptr) return {};
  const TensorPair& pair = run.pairing.tensors[tensor];
  report::Object place;
  place.add("op_name", run.op_name(pair.op)).add("op_type", run.op_type(pair.op));
  place.add("rank", at.rank.plain())
      .add("step", at.step.plain())
      .add("slot", slot_value(run.record_of(pair).name.slot));
  return recomputed_output(std::move(place), computed->output, computed->asked);
}

// A root as the facts of the text and the page, and as an entry of first_divergence.
class RootReport {
 public:
  RootReport(const DiffResult& run, const Divergence& root) : run_(run), root_(root) {}

  [[nodiscard]] std::vector<RootFact> facts() const {
    std::vector<RootFact> facts;
    if (const OperatorLine line = run_.line(root_.op); line.frame != nullptr)
      facts.push_back({"line", line_text(line)});
    if (!root_.inputs.empty()) facts.push_back({"in", tensors_text(run_, root_.inputs)});
    if (!root_.outputs.empty()) facts.push_back({"out", tensors_text(run_, root_.outputs)});
    facts.push_back({"why", fmt::format("{}: {}", name_of(decided_by(root_.rule)), root_.reason)});
    if (&root_ == &run_.divergence.roots.front()) {
      if (std::string tokens = wrong_tokens_text(run_); !tokens.empty())
        facts.push_back({"token", std::move(tokens), "first token"});
    }
    add_others(facts);
    if (root_.score) {
      const std::string_view type = run_.op_type(root_.op);
      facts.push_back(
          {"error", fmt::format("{:.2g}; {:.2g} expected{}{} with these inputs; {}", root_.score->measured,
                                root_.score->expected, type.empty() ? "" : " of ", type, siblings_text(*root_.score))});
    }
    if (!root_.places.empty()) facts.push_back({"and", places_text(), "also"});
    facts.push_back({"so", effect_text(), "effect"});
    return facts;
  }

  [[nodiscard]] report::Object object() const {
    const auto found = run_.operator_in_graph(root_.op);
    const OpPair& pair = run_.pairing.operators[root_.op];
    const SequencedOp& op = pair.b != kNoId ? run_.pairing.b[pair.b] : run_.pairing.a[pair.a];
    const bool enters = !root_.parameter.empty();
    report::Object object;
    object.add("op_name", enters ? std::string_view(root_.parameter) : std::string_view(run_.op_name(root_.op)));
    object.add("op_type", enters ? std::string_view("Parameter") : run_.op_type(root_.op));
    object.add("rank", root_.place.rank.plain()).add("graph", op.graph.plain()).add("step", root_.place.step.plain());
    if (const std::string_view dump = run_.pairing.dump_name(root_.place.dump); !dump.empty()) object.add("dump", dump);
    if (!run_.placements.empty()) object.add("ranks", report::list_of(root_.ranks));
    const OperatorLine line = run_.line(root_.op);
    object.add("order", order_value(run_, root_.op)).add("source", source_value(line.frame));
    object.add("one_of_several", line.one_of_several);
    object.add("stack", found.side == nullptr ? report::Value(report::List())
                                              : stack_value(stack_of(found.side->opened.graph(), found.op)));
    object.add("kind", name_of(root_.kind))
        .add("decided_by", name_of(decided_by(root_.rule)))
        .add("rule", name_of(root_.rule));
    object.add("confidence", confidence(root_.rule)).add("reason", root_.reason);
    report::Object tensors;
    tensors.add("inputs", evidence(root_.inputs)).add("outputs", evidence(root_.outputs));
    object.add("evidence", std::move(tensors)).add("downstream", root_.downstream);
    object.add("arguments", list_of(root_.arguments, [](const DivergedArgument& one) {
                 report::Object argument;
                 return std::move(argument.add("slot", one.name).add("a", one.a).add("b", one.b));
               }));
    object.add("amplification", root_.amplification);
    const OutputScore* const score = root_.score ? &*root_.score : nullptr;
    object.add("measured_error", score ? report::Value(score->measured) : report::Value());
    object.add("expected_error", score ? report::Value(rounded(score->expected)) : report::Value());
    object.add("score", score ? report::Value(rounded(score->score)) : report::Value());
    object.add("siblings", score ? report::Value(siblings_value(*score)) : report::Value());
    object.add("places", list_of(root_.places, [&](const DivergencePlace& other) {
                 report::Object place;
                 place.add("op_name", run_.op_name(other.op)).add("rank", other.place.rank.plain());
                 return std::move(place.add("step", other.place.step.plain()));
               }));
    object.add("candidates", candidates());
    object.add("dump_config", dump_config()).add("gradient_cut", gradient_cut());
    object.add("read_by", enters ? report::Value(run_.op_name(root_.op)) : report::Value());
    const auto by_itself = std::find_if(root_.outputs.begin(), root_.outputs.end(), [&](TensorId tensor) {
      return run_.computed.wrong.count(tensor) + run_.computed.outliers.count(tensor) > 0;
    });
    object.add("recompute",
               by_itself == root_.outputs.end() ? report::Value() : recomputed_value(run_, *by_itself, root_.place));
    return object;
  }

 private:
  // Operators that may be to blame instead, and how to dump them.
  void add_others(std::vector<RootFact>& facts) const {
    const auto add_dumps = [&](const auto& dump_of_side, const auto& text_of_side) {
      const auto candidate = dump_of_side(true), reference = dump_of_side(false);
      const auto add = [&](std::string text) { facts.push_back({"dump", std::move(text), "to dump next", true}); };
      add(text_of_side(candidate) + (candidate == reference ? "" : " in the candidate"));
      if (candidate != reference) add(text_of_side(reference) + " in the reference");
    };
    if (!root_.candidates.empty()) {
      const size_t count = root_.candidates.size();
      const auto named = [&](OperatorId op) { return std::string(run_.op_name(op)) + source_note(run_.frame(op)); };
      facts.push_back({"or",
                       fmt::format("{} before it that {} not dumped: {}", plural(count, "operator"),
                                   count == 1 ? "was" : "were", first_of(root_.candidates, named)),
                       "or rather"});
      add_dumps([&](bool of_candidate) { return kernels_of(run_, root_.candidates, of_candidate); }, kernels_text);
    }
    if (!root_.chain.empty()) facts.push_back({"or", chain_text(), "or rather"});
    if (root_.unseen)
      add_dumps([&](bool of_candidate) { return msprobe_settings(run_, *root_.unseen, of_candidate); }, settings_text);
  }

  // "3 calls near it that the candidate alone has: Tensor.__lt__.0.forward (net.py:158), Tensor.__sub__.0.forward (net.py:157)"
  [[nodiscard]] std::string chain_text() const {
    // The line of the script, and the calls of it that are next to each other.
    std::vector<std::pair<std::string, std::string>> by_line;
    for (const OperatorId op : root_.chain) {
      std::string line = source_note(run_.frame(op));
      if (by_line.empty() || line.empty() || by_line.back().first != line) {
        by_line.emplace_back(std::move(line), run_.op_name(op));
      } else {
        by_line.back().second.append(", ").append(run_.op_name(op));
      }
    }
    return fmt::format("{} near it that the candidate alone has: {}", plural(root_.chain.size(), "call"),
                       first_of(by_line, [](const auto& one) { return one.second + one.first; }));
  }

  // "at 11 further places of this line"
  [[nodiscard]] std::string places_text() const {
    const bool one_op = std::all_of(root_.places.begin(), root_.places.end(),
                                    [&](const DivergencePlace& other) { return other.op == root_.op; });
    const bool has_line = run_.frame(root_.op) != nullptr && !one_op;
    const std::string count = plural(root_.places.size(), has_line ? "further place" : "further run");
    return has_line ? fmt::format("at {} of this line", count) : fmt::format("in {} of it", count);
  }

  // The effect of a single root has the numbers of the summary: "1 difference is its own, 2 follow from it".
  [[nodiscard]] std::string effect_text() const {
    std::string come = fmt::format(
        "{} from it, its own included",
        root_.downstream == 1 ? "1 difference comes" : fmt::format("{} differences come", root_.downstream));
    if (run_.divergence.roots.size() == 1) {
      uint64_t own = 0, follow = 0;
      for (const ReasonCount& one : reason_counts(run_)) {
        if (one.key == "cause") own = one.count;
        if (one.key == name_of(Explanation::kDownstream)) follow = one.count;
      }
      come =
          fmt::format("{} its own, {} from it", own == 1 ? "1 difference is" : fmt::format("{} differences are", own),
                      follow == 0   ? "none follows"
                      : follow == 1 ? "1 follows"
                                    : fmt::format("{} follow", follow));
    }
    const std::string times = fmt::format("{:.3g}", root_.amplification.value_or(0));
    const bool grows = root_.amplification && *root_.amplification >= 1 && times != "1";
    return fmt::format("{}; {}{}", come, confidence_text(confidence(root_.rule)),
                       grows ? fmt::format("; the error is {} times larger behind it than before it", times) : "");
  }

  [[nodiscard]] report::List evidence(const std::vector<TensorId>& tensors) const {
    return list_of(tensors, [&](TensorId tensor) {
      const TensorPair& pair = run_.pairing.tensors[tensor];
      const NameFacts& name = run_.record_of(pair).name;
      report::Object entry;
      entry.add("op_name", run_.op_name(pair.op)).add("io", name_of(name.io)).add("slot", slot_value(name.slot));
      const Verdict verdict = run_.diffs[tensor].verdict;
      entry.add("verdict", name_of(verdict));
      return std::move(entry.add("relative_l2", verdict == Verdict::kNan ? std::nullopt : judged_error(run_, tensor)));
    });
  }

  [[nodiscard]] report::List candidates() const {
    return list_of(root_.candidates.empty() ? root_.chain : root_.candidates, [&](OperatorId op) {
      const OperatorLine line = run_.line(op);
      report::Object object;
      object.add("op_name", run_.op_name(op)).add("op_type", run_.op_type(op)).add("source", source_value(line.frame));
      return std::move(object.add("one_of_several", line.one_of_several));
    });
  }

  [[nodiscard]] report::Value dump_config() const {
    if (root_.candidates.empty() && !root_.unseen) return {};
    const auto config = [&](bool of_candidate) {
      return root_.unseen ? settings_object(msprobe_settings(run_, *root_.unseen, of_candidate))
                          : kernels_object(kernels_of(run_, root_.candidates, of_candidate));
    };
    report::Object object;
    object.add("candidate", config(true)).add("reference", config(false));
    return object;
  }

  [[nodiscard]] report::Value gradient_cut() const {
    if (!root_.cut) return {};
    report::Object object;
    object.add("only_in", root_.cut->of_candidate ? "candidate" : "reference");
    object.add("source", source_value(run_.frame(root_.cut->at)));
    object.add("operators", uint64_t{root_.cut->operators.size()});
    object.add(
        "lines", list_of(lines_of_cut(run_, *root_.cut), [](const CutLine& line) {
          report::Object of_line;
          return std::move(of_line.add("source", source_value(line.frame)).add("operators", uint64_t{line.operators}));
        }));
    return object;
  }

  const DiffResult& run_;
  const Divergence& root_;
};

}  // namespace

std::string root_name(const DiffResult& run, const Divergence& root) {
  if (root.parameter.empty()) return std::string(run.op_name(root.op));
  return fmt::format("{} {}, read by {}", name_of(root.kind), root.parameter, run.op_name(root.op));
}

std::string root_place(const DiffResult& run, const Divergence& root) {
  return place_text(run, root.op, root.place, root.ranks);
}

std::vector<RootFact> root_facts(const DiffResult& run, const Divergence& root) {
  return RootReport(run, root).facts();
}

report::List divergences_value(const DiffResult& run) {
  return list_of(run.divergence.roots, [&](const Divergence& root) { return RootReport(run, root).object(); });
}

// ---- --explain

namespace {

// "input 0"; with its operator if that is another one.
std::string slot_name(const DiffResult& run, TensorId tensor, OperatorId op) {
  const TensorPair& pair = run.pairing.tensors[tensor];
  const NameFacts& name = run.record_of(pair).name;
  std::string text = fmt::format("{} {}", name_of(name.io), name.slot);
  return pair.op == op ? text : fmt::format("{} of {}", text, run.op_name(pair.op));
}

// Slots of msprobe may be names instead of numbers.
bool has_number(const InputAccount& input) { return input.slot != UINT32_MAX; }

std::string input_text(const DiffResult& run, const RunAccount& account, const InputAccount& input) {
  std::string text = input.tensor != kNoId ? slot_name(run, input.tensor, account.op)
                     : has_number(input)   ? fmt::format("input {}", input.slot)
                                           : "an input";
  if (!input.parameter.empty()) {
    text += ", parameter " + input.parameter;
  } else if (input.producer != kNoId) {
    text.append(", made by ").append(run.op_name(input.producer));
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
    text += fmt::format(", {} times both by similar operators", times);
  return text + fmt::format("; score {:.2g}", output.score);
}

// "computed right from its own inputs (0.4 units)"; empty if none of its outputs was computed again.
std::string alone_text(const DiffResult& run, const RunAccount& account) {
  double units = -1;
  bool is_outlier = false;
  for (const OutputAccount& output : account.outputs) {
    const ComputedOutput* const computed = run.computed.find(output.tensor);
    if (computed == nullptr) continue;
    if (computed->output.judgement.is_wrong())
      return fmt::format(
          "computed wrong from its own inputs ({:.2g} units, limit {}){}", computed->output.judgement.units,
          computed->output.judgement.limit,
          computed->output.instead.empty() ? "" : "; " + recompute::describe(computed->output.instead.front()));
    units = std::max(units, computed->output.judgement.units);
    is_outlier = is_outlier || run.computed.outliers.count(output.tensor) > 0;
  }
  if (units < 0) return {};
  return fmt::format("computed {} from its own inputs ({:.2g} units)",
                     is_outlier ? "less exactly than similar operators do" : "right", units);
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
  for (const OperatorId op : account.through) through.append(through.empty() ? "" : ", ").append(run.op_name(op));
  if (!through.empty()) add_line(text, "  past  {}: what they read stands for what they wrote", through);
  label = "out";
  for (const OutputAccount& output : account.outputs) {
    add_line(text, "  {:<4}  {}", label, output_text(run, account, output));
    if (output.judged && output.siblings > 0) add_line(text, "        {}", siblings_text(output));
    label = "";
  }
  if (const std::string alone = alone_text(run, account); !alone.empty()) add_line(text, "  alone {}", alone);
  add_line(text, "  so    {}", account.conclusion);
}

report::Object input_object(const DiffResult& run, const RunAccount& account, const InputAccount& input) {
  const bool dumped = input.tensor != kNoId;
  report::Object object;
  object.add("op_name", run.op_name(dumped ? run.pairing.tensors[input.tensor].op : account.op));
  if (dumped) {
    const NameFacts& name = run.record_of(run.pairing.tensors[input.tensor]).name;
    object.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
  } else {
    object.add("io", name_of(Io::kInput));
    object.add("slot", has_number(input) ? report::Value(input.slot) : report::Value());
  }
  object.add("made_by", input.producer == kNoId ? report::Value() : report::Value(run.op_name(input.producer)));
  object.add("parameter", report::text_or_null(input.parameter)).add("constant", input.constant);
  object.add("equal", input.exact).add("error", input.error);
  object.add("gain", rounded(input.gain));
  return object;
}

report::Object output_object(const DiffResult& run, const RunAccount& account, const OutputAccount& output) {
  const NameFacts& name = run.record_of(run.pairing.tensors[output.tensor]).name;
  const auto known = [&](double value) { return output.judged ? report::Value(rounded(value)) : report::Value(); };
  report::Object object;
  object.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
  object.add("measured_error", output.measured).add("judged", output.judged);
  object.add("expected_error", known(output.expected)).add("propagated_error", known(output.propagated));
  object.add("own_error", known(output.noise)).add("correction", known(output.correction));
  object.add("score", known(output.score));
  object.add("siblings", output.judged ? report::Value(siblings_value(output)) : report::Value());
  object.add("recompute", recomputed_value(run, output.tensor, account.place));
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
  return list_of(run.divergence.accounts, [&](const RunAccount& account) {
    report::Object object;
    object.add("op_name", run.op_name(account.op)).add("op_type", run.op_type(account.op));
    object.add("rank", account.place.rank.plain()).add("step", account.place.step.plain());
    if (const std::string_view dump = run.pairing.dump_name(account.place.dump); !dump.empty())
      object.add("dump", dump);
    object.add("occurrence", account.place.occurrence);
    object.add("source", source_value(run.frame(account.op)));
    object.add("inputs", list_of(account.inputs, [&](const auto& input) { return input_object(run, account, input); }));
    object.add("through", list_of(account.through, [&](OperatorId op) { return run.op_name(op); }));
    object.add("outputs",
               list_of(account.outputs, [&](const auto& output) { return output_object(run, account, output); }));
    object.add("threshold", rounded(account.threshold)).add("is_root", account.is_root);
    object.add("root", account.root_op ? report::Value(run.op_name(*account.root_op)) : report::Value());
    return std::move(object.add("reason", account.conclusion));
  });
}

}  // namespace msdump::cli
