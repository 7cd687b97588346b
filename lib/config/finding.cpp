#include "config/finding.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump {

Effect other(std::string text) { return {Outcome::kOther, std::move(text)}; }
Effect stops(std::string text) { return {Outcome::kStops, std::move(text)}; }
Effect refused() { return stops(std::string(kRefused)); }
Effect nothing_written() { return stops(std::string(kNothingWritten)); }

Findings::Findings(std::string_view text, std::vector<Setup> setups) : text_(text), setups_(std::move(setups)) {}

bool Findings::judge_effects(const Spot& spot, const Complaint& complaint, const std::vector<Effect>& effects) {
  // Each effect, with the setups it happens to, in order of appearance.
  std::vector<std::pair<std::string_view, std::vector<bool>>> parts;
  bool all_stop = true;
  for (size_t i = 0; i < effects.size(); ++i) {
    if (effects[i].outcome != Outcome::kStops) all_stop = false;
    if (effects[i].outcome == Outcome::kFine) continue;
    const auto same =
        std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.first == effects[i].text; });
    auto& [text, some] =
        same == parts.end() ? parts.emplace_back(effects[i].text, std::vector<bool>(effects.size(), false)) : *same;
    some[i] = true;
  }
  if (parts.empty()) return false;
  std::string message = complaint.subject;
  for (const auto& [text, some] : parts) {
    const std::string where = where_text(setups_, some);
    message += fmt::format("{} {}", &text == &parts.front().first ? ":" : ";", text);
    if (!where.empty()) message += fmt::format(" ({})", where);
  }
  add(spot, complaint, all_stop ? Severity::kError : Severity::kWarning, std::move(message));
  return true;
}

void Findings::add(const Spot& spot, const Complaint& complaint, Severity severity, std::string message) {
  Tally& tally = tallies_[std::string(complaint.rule)];
  ++tally.seen;
  tally.last_offset = spot.offset;
  if (tally.seen > kMostOfARule) {
    if (severity == Severity::kError) ++tally.errors;
    return;
  }
  Finding finding;
  finding.offset = std::min(spot.offset, text_.size());
  finding.key = spot.key;
  finding.severity = severity;
  finding.rule = complaint.rule;
  finding.message = std::move(message);
  finding.hint = complaint.hint;
  findings_.push_back(std::move(finding));
}

bool Findings::has_enough_of(std::string_view rule) const {
  const auto tally = tallies_.find(rule);
  return tally != tallies_.end() && tally->second.seen >= kMostOfARule;
}

std::vector<Finding> Findings::take() {
  for (const auto& [rule, tally] : tallies_) {
    if (tally.seen <= kMostOfARule) continue;
    Finding more;
    more.offset = std::min(tally.last_offset, text_.size());
    more.severity = tally.errors > 0 ? Severity::kError : Severity::kWarning;
    more.rule = rule;
    more.message = fmt::format("and {} more like this", tally.seen - kMostOfARule);
    findings_.push_back(std::move(more));
  }
  std::stable_sort(findings_.begin(), findings_.end(),
                   [](const Finding& a, const Finding& b) { return a.offset < b.offset; });
  TextPositions positions(text_);
  for (Finding& finding : findings_) {
    const TextPosition position = positions.at(finding.offset);
    finding.line = position.line;
    finding.column = position.column;
  }
  return std::move(findings_);
}

std::string in_words(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull: return "null";
    case JsonKind::kBool: return value.boolean ? "true" : "false";
    case JsonKind::kNumber: return excerpt(value.text);
    case JsonKind::kString: return fmt::format("'{}'", excerpt(value.text));
    case JsonKind::kArray: return value.items.empty() ? "an empty list" : "a list";
    case JsonKind::kObject: return value.members.empty() ? "an empty object" : "an object";
  }
  return "";
}

}  // namespace msdump
