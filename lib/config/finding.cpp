#include "config/finding.h"

#include <algorithm>

#include <fmt/format.h>

namespace msdump {

Findings::Findings(std::string_view text, std::vector<Setup> setups) : text_(text), setups_(std::move(setups)) {}

bool Findings::judge_effects(const Spot& spot, const Complaint& complaint, const std::vector<Effect>& effects) {
  // Each effect, with the setups it happens to, in order of appearance.
  std::vector<std::pair<std::string_view, std::vector<bool>>> parts;
  bool all_refused = true;
  for (size_t i = 0; i < effects.size(); ++i) {
    if (effects[i].outcome != Outcome::kRefused) all_refused = false;
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
  add(spot, complaint, all_refused ? Severity::kError : Severity::kWarning, std::move(message));
  return true;
}

void Findings::add(const Spot& spot, const Complaint& complaint, Severity severity, std::string message) {
  const size_t offset = std::min(spot.offset, text_.size());
  if (!cap_.admit(std::string(complaint.rule), severity, offset)) return;
  findings_.push_back({{severity, std::move(message), complaint.hint}, offset, spot.key, std::string(complaint.rule)});
}

std::vector<Finding> Findings::take() {
  for (const auto& [rule, rest] : cap_.rest())
    findings_.push_back({{rest.worst, fmt::format("and {} more like this", rest.count), {}}, rest.last, {}, rule});
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

}  // namespace msdump
