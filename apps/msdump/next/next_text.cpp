#include "next/next_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostShown = 5;

std::string place_text(const RunPlace& place) {
  std::string text;
  if (place.rank) text += fmt::format(", rank {}", *place.rank);
  if (place.step) text += fmt::format(", step {}", *place.step);
  return text;
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

}  // namespace

std::vector<report::Column> next_columns() {
  std::vector<report::Column> columns;
  for (const char* const key :
       {"state", "kind", "rank", "step", "op_name", "op_type", "source.file", "source.line", "reason"})
    columns.push_back({key, ""});
  return columns;
}

report::Row suspect_row(const Suspect& suspect) {
  const auto text_or_null = [](std::string_view text) { return text.empty() ? report::Value() : report::Value(text); };
  const RunPlace& place = suspect.place;
  report::Row row;
  row.add("state", name_of(suspect.open));
  row.add("kind", text_or_null(suspect.kind));
  row.add("rank", place.rank ? report::Value(*place.rank) : report::Value());
  row.add("step", place.step ? report::Value(*place.step) : report::Value());
  row.add("op_name", text_or_null(suspect.op_name));
  row.add("op_type", text_or_null(suspect.op_type));
  row.add("parameter", text_or_null(suspect.parameter));
  row.add("source", source_value(suspect.frame));
  row.add("reason", suspect.reason);
  report::List others;
  for (const Suspect::Call& other : suspect.others) {
    report::Object one;
    one.add("op_name", text_or_null(other.op_name)).add("source", source_value(other.frame));
    others.emplace_back(std::move(one));
  }
  row.add("candidates", std::move(others));
  return row;
}

report::Object next_document(const NextAnswer& answer) {
  const NextPlan& plan = answer.plan;
  const bool asked = plan.state == PlanState::kAsked;
  report::Object document;
  document.add("state", name_of(plan.state));
  document.add("rounds", static_cast<int64_t>(answer.round));
  report::List pinned;
  for (const Suspect& suspect : plan.suspects) {
    if (suspect.open == Suspect::Open::kPinned) pinned.emplace_back(suspect_row(suspect));
  }
  document.add("pinned", std::move(pinned));
  document.add("question", asked ? report::Value(plan.question) : report::Value());
  report::List outcomes;
  for (const std::string& outcome : plan.outcomes) outcomes.emplace_back(outcome);
  document.add("outcomes", std::move(outcomes));
  report::Object configuration, estimate;
  configuration.add("kind", name_of(plan.candidate.kind));
  configuration.add("candidate", answer.candidate);
  configuration.add("reference", answer.reference.empty() ? report::Value() : report::Value(answer.reference));
  estimate.add("tensors", static_cast<int64_t>(plan.size.tensors)).add("bytes", static_cast<int64_t>(plan.size.bytes));
  estimate.add("at_least", plan.size.at_least).add("full_bytes", static_cast<int64_t>(plan.size.of_all));
  document.add("configuration", asked ? report::Value(std::move(configuration)) : report::Value());
  document.add("estimate", asked && has_size(plan) ? report::Value(std::move(estimate)) : report::Value());
  report::List written;
  for (const std::string& path : answer.written) written.emplace_back(path);
  document.add("written", std::move(written));
  return document;
}

std::string next_text(const NextAnswer& answer) {
  const NextPlan& plan = answer.plan;
  std::string text;
  for (size_t i = 0; i < std::min(plan.suspects.size(), kMostShown); ++i) {
    const Suspect& suspect = plan.suspects[i];
    const std::string line =
        suspect.frame == nullptr ? std::string() : fmt::format(" ({})", source_text(suspect.frame));
    std::string name = suspect.op_name.empty() ? suspect.parameter : suspect.op_name;
    if (name.empty()) name = "an operator";
    add_line(text, suspect.open == Suspect::Open::kPinned ? "pinned" : "suspect",
             fmt::format("{}{}{}: {}", name, line, place_text(suspect.place), suspect.reason));
  }
  if (plan.suspects.size() > kMostShown)
    add_line(text, "", fmt::format("and {} more; --json has all", plan.suspects.size() - kMostShown));
  if (plan.state == PlanState::kNothing)
    add_line(text, "nothing", "no operator stands out: no further dump is asked for");
  if (plan.state != PlanState::kAsked) return text;
  add_line(text, "question", plan.question);
  add_line(text, "dump", asked_text(plan.candidate));
  if (has_size(plan)) add_line(text, "size", size_text(plan.size));
  for (const std::string& outcome : plan.outcomes) add_line(text, "", outcome);
  for (const std::string& path : answer.written) add_line(text, "written", path);
  if (!answer.written.empty()) return text;
  text += "\n" + answer.candidate;
  if (!answer.reference.empty() && answer.reference != answer.candidate) text += "\nreference:\n" + answer.reference;
  return text;
}

}  // namespace msdump::cli
