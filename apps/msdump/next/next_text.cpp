#include "next/next_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "divergence/divergence.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostShown = 5;

// As diff names a root.
std::string name_of(const Suspect& suspect) {
  if (suspect.op_name.empty()) return suspect.parameter.empty() ? "an operator" : suspect.parameter;
  const bool is_read =
      suspect.kind == name_of(DivergenceKind::kParameter) || suspect.kind == name_of(DivergenceKind::kInput);
  if (!is_read || suspect.parameter.empty()) return suspect.op_name;
  return fmt::format("{} {}, read by {}", suspect.kind, suspect.parameter, suspect.op_name);
}

std::string size_text(const DumpSize& size) {
  std::string text = fmt::format("{}{} of {} per step and rank", size.at_least ? "at least " : "",
                                 human_bytes(size.bytes), plural(size.tensors, "tensor"));
  if (size.of_all == 0) return text;
  const double share = 100 * static_cast<double>(size.bytes) / static_cast<double>(size.of_all);
  return text + (share < 10 ? fmt::format(", {:.2g} % of a full dump", share)
                            : fmt::format(", {:.0f} % of a full dump", share));
}

std::string asked_text(const DumpRequest& request) {
  std::string text = request.statistics ? "statistics" : "tensors";
  const auto& names = request.scope.empty() ? request.list : request.scope;
  if (request.overflow) {
    text += " of the operators that overflow";
  } else if (names.empty()) {
    text += " of everything";
  } else {
    text += request.scope.empty() ? " of " : " from ";
    const auto shown = std::min(names.size(), kMostShown);
    for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : request.scope.empty() ? ", " : " to ") + names[i];
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  }
  const auto add = [&](std::string_view what, const std::vector<int64_t>& numbers) {
    if (numbers.empty()) return;
    text += fmt::format("; {}{}", what, numbers.size() == 1 ? "" : "s");
    for (size_t i = 0; i < std::min(numbers.size(), kMostShown); ++i)
      text += fmt::format("{} {}", i == 0 ? "" : ",", numbers[i]);
    if (numbers.size() > kMostShown) text += ", ...";
  };
  add("step", request.steps);
  add("rank", request.ranks);
  return text;
}

// Statistics have next to none, and which operators overflow is not known.
bool has_size(const NextPlan& plan) { return !plan.candidate.statistics && !plan.candidate.overflow; }

void add_line(std::string& text, std::string_view head, std::string_view line) {
  text += fmt::format("{:<10}{}\n", head, escape_for_terminal(line));
}

const report::ObjectType& other_call_type() {
  static const report::ObjectType type{
      "OtherCall",
      "A call of which one is the suspect.",
      {{.key = "op_name", .type = "string|null", .text = "full scope name"}, source_key()}};
  return type;
}

report::Value others_of(const Suspect& suspect) {
  return list_of(suspect.others, [](const Suspect::Call& other) {
    report::Object one;
    return std::move(one.add("op_name", report::text_or_null(other.op_name)).add("source", source_value(other.frame)));
  });
}

const report::ObjectType& configuration_type() {
  static const report::ObjectType type{
      "NextConfiguration",
      "The configuration of the next dump.",
      {{.key = "kind", .type = "string", .text = "data_dump, msprobe or acl"},
       {.key = "candidate", .type = "string", .text = "text of the file for the candidate"},
       {.key = "reference", .type = "string|null", .text = "the same for the reference; null without one"}}};
  return type;
}

const report::ObjectType& estimate_type() {
  static const report::ObjectType type{
      "NextEstimate",
      "What a step of the next dump writes on a rank.",
      {{.key = "tensors", .type = "integer", .text = "tensors"},
       {.key = "bytes", .type = "integer", .unit = "bytes", .text = "their size"},
       {.key = "at_least", .type = "boolean", .text = "some sizes are not known"},
       {.key = "full_bytes", .type = "integer", .unit = "bytes", .text = "size of a dump of all; 0 if not known"}}};
  return type;
}

}  // namespace

const report::RowType<Suspect>& suspect_rows() {
  static const auto rows =
      report::RowType<Suspect>("Suspect", "An operator or value that the next dump is about.")
          .add({.key = "state", .type = "string", .text = "what is open about it; pinned if nothing is"},
               [](const Suspect& one) -> report::Value { return name_of(one.open); })
          .add({.key = "kind", .type = "string|null", .text = "kind of the divergence or finding"},
               [](const Suspect& one) -> report::Value { return report::text_or_null(one.kind); })
          .add(*tensor_type().find("rank"), [](const Suspect& one) -> report::Value { return one.place.rank.plain(); })
          .add(*tensor_type().find("step"), [](const Suspect& one) -> report::Value { return one.place.step.plain(); })
          .add(dump_key(), [](const Suspect& one) -> report::Value { return report::text_or_null(one.dump); })
          .add({.key = "op_name", .type = "string|null", .text = "full scope name of the operator"},
               [](const Suspect& one) -> report::Value { return report::text_or_null(one.op_name); })
          .add({.key = "op_type", .type = "string|null", .text = "type of the operator"},
               [](const Suspect& one) -> report::Value { return report::text_or_null(one.op_type); })
          .add({.key = "parameter", .type = "string|null", .text = "parameter or input that is wrong already"},
               [](const Suspect& one) -> report::Value { return report::text_or_null(one.parameter); })
          .add(source_key(), [](const Suspect& one) -> report::Value { return source_value(one.frame); })
          .add({.key = "reason", .type = "string", .text = "why, in words that may change"},
               [](const Suspect& one) -> report::Value { return one.reason; })
          .add({.key = "only_reads",
                .type = "boolean",
                .text = "an input is wrong already: what made it is to blame, and not the operator"},
               [](const Suspect& one) -> report::Value { return one.only_reads; })
          .add({.key = "candidates",
                .type = "object[]",
                .text = "calls of which one is the suspect",
                .of = other_call_type},
               others_of);
  return rows;
}

std::vector<report::Column> next_columns(const std::vector<std::string>& dumps) {
  std::vector<report::Column> columns = suspect_rows().columns(
      {"state", "kind", "rank", "step", "dump", "op_name", "op_type", "source.file", "source.line", "reason"});
  leave_out_dump(columns, dumps);
  report::hide(columns, {"rank", "step", "source.file"});  // people read the text
  return columns;
}

std::vector<report::DocumentType> next_documents() {
  static const auto suspect_type = []() -> const report::ObjectType& { return suspect_rows().type(); };
  static const report::ObjectType summary{
      "NextSummary",
      "Counts of next.",
      {{.key = "suspects", .type = "integer", .text = "rows"},
       {.key = "failed", .type = "integer", .text = "inputs that could not be read"}}};
  return {{.name = "next",
           .text = "The plan of the next dump; its rows are the suspects.",
           .row = &suspect_rows().type(),
           .summary = &summary,
           .further = {
               {.key = "state", .type = "string", .text = "asked, pinned or nothing"},
               {.key = "rounds", .type = "integer", .text = "rounds of the case so far"},
               {.key = "pinned", .type = "object[]", .text = "suspects of which nothing is open", .of = suspect_type},
               {.key = "nothing", .type = "string|null", .text = "why no dump is asked for, if nothing is pinned"},
               {.key = "question", .type = "string|null", .text = "what the next dump answers"},
               {.key = "outcomes", .type = "string[]", .text = "what each outcome would mean"},
               {.key = "configuration",
                .type = "object|null",
                .text = "null if nothing is asked",
                .of = configuration_type},
               {.key = "estimate",
                .type = "object|null",
                .text = "size of the next dump; null if not known",
                .of = estimate_type},
               {.key = "written", .type = "string[]", .text = "files that were written"}}}};
}

report::Object next_document(const NextAnswer& answer) {
  const NextPlan& plan = answer.plan;
  const bool asked = plan.state == PlanState::kAsked;
  report::Object document;
  document.add("state", name_of(plan.state));
  document.add("rounds", static_cast<int64_t>(answer.round));
  report::List pinned;
  for (const Suspect& suspect : plan.suspects) {
    if (suspect.open == Suspect::Open::kPinned) pinned.emplace_back(suspect_rows().row(suspect));
  }
  document.add("pinned", std::move(pinned));
  document.add("nothing", plan.state == PlanState::kNothing ? report::Value(plan.nothing) : report::Value());
  document.add("question", asked ? report::Value(plan.question) : report::Value());
  document.add("outcomes", report::list_of(plan.outcomes));
  report::Object configuration, estimate;
  configuration.add("kind", name_of(plan.candidate.kind));
  configuration.add("candidate", answer.candidate);
  configuration.add("reference", answer.reference.empty() ? report::Value() : report::Value(answer.reference));
  estimate.add("tensors", static_cast<int64_t>(plan.size.tensors)).add("bytes", static_cast<int64_t>(plan.size.bytes));
  estimate.add("at_least", plan.size.at_least).add("full_bytes", static_cast<int64_t>(plan.size.of_all));
  document.add("configuration", asked ? report::Value(std::move(configuration)) : report::Value());
  document.add("estimate", asked && has_size(plan) ? report::Value(std::move(estimate)) : report::Value());
  document.add("written", report::list_of(answer.written));
  return document;
}

std::string next_text(const NextAnswer& answer) {
  const NextPlan& plan = answer.plan;
  std::string text;
  for (size_t i = 0; i < std::min(plan.suspects.size(), kMostShown); ++i) {
    const Suspect& suspect = plan.suspects[i];
    // "Pinned" is said where the search ends.
    const bool pinned = suspect.open == Suspect::Open::kPinned && plan.state == PlanState::kPinned;
    add_line(text, pinned ? "pinned" : "suspect",
             fmt::format("{}{}{}: {}", name_of(suspect), source_note(suspect.frame),
                         place_text(suspect.dump, suspect.place.rank, suspect.place.step), suspect.reason));
    if (suspect.only_reads && suspect.open != Suspect::Open::kPinned) {
      add_line(text, "", "it only reads what is wrong: the next dump has what makes that");
    } else if (suspect.only_reads && suspect.parameter.empty() && answer.round == 1) {
      add_line(text, "", "it only reads what enters the network; if the dump lacks operators, --config CONFIG says so");
    }
  }
  if (plan.suspects.size() > kMostShown)
    add_line(text, "", fmt::format("and {} more; --json has all", plan.suspects.size() - kMostShown));
  if (plan.state == PlanState::kNothing) add_line(text, "nothing", plan.nothing + ": no further dump is asked for");
  if (plan.state != PlanState::kAsked) return text;
  add_line(text, "question", plan.question);
  add_line(text, "dump", asked_text(plan.candidate));
  if (has_size(plan)) add_line(text, "size", size_text(plan.size));
  for (const std::string& outcome : plan.outcomes) add_line(text, "", outcome);
  for (const std::string& path : answer.written) add_line(text, "written", path);
  if (!answer.written.empty()) return text;
  const bool two = !answer.reference.empty() && answer.reference != answer.candidate;
  text += (two ? "\ncandidate:\n" : "\n") + answer.candidate;
  if (two) text += "\nreference:\n" + answer.reference;
  return text;
}

}  // namespace msdump::cli
