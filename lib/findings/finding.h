// Findings: faults that a rule found in a dump or a configuration, each with its severity, its place and a hint.
//
// lib/check, lib/config and lib/info each derive their finding from FindingText, and add the kind of place that they judge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace msdump {

// In this order. A note tells something worth knowing about an input without a fault.
enum class Severity : uint8_t { kNote, kWarning, kError };
[[nodiscard]] std::string_view name_of(Severity severity);                    // "note", "warning", "error"
[[nodiscard]] std::optional<Severity> parse_severity(std::string_view word);  // in any case

struct FindingText {
  Severity severity = Severity::kWarning;
  std::string message, hint;  // the fault; the remedy, or empty

  void limit_severity(Severity most) { severity = std::min(severity, most); }
  void raise_severity(Severity least) { severity = std::max(severity, least); }
};

// A place in a dump tree. Absent: not known, or several.
struct FindingPlace {
  std::optional<int64_t> rank = {}, graph = {}, step = {};
  std::string path = {};  // relative to the dump
  std::string dump = {};  // of several below one path, as DumpIndex::dumps names it
};

// Decides which findings of a rule are kept: the first `most`. The others are only counted, so an input with a million
// mistakes does not cost the memory of a million messages. `Rule` identifies a rule, `Place` the place of a finding.
template <class Rule, class Place>
class FindingCap {
 public:
  struct Rest {
    size_t count = 0;
    Severity worst = Severity::kNote;
    Place last = {};
  };

  explicit FindingCap(size_t most) : most_(most) {}

  // Counts one finding. True if it is to be kept.
  bool admit(const Rule& rule, Severity severity, const Place& place) {
    if (kept_[rule] < most_) {
      ++kept_[rule];
      return true;
    }
    Rest& rest = rest_[rule];
    ++rest.count;
    rest.worst = std::max(rest.worst, severity);
    rest.last = place;
    return false;
  }
  // True if the next finding of the rule will only be counted, so that its message need not be made.
  [[nodiscard]] bool is_full(const Rule& rule) const {
    const auto kept = kept_.find(rule);
    return kept != kept_.end() && kept->second >= most_;
  }
  // The findings that were only counted, by rule. Rules that kept all of theirs are not in it.
  [[nodiscard]] const std::map<Rule, Rest, std::less<>>& rest() const { return rest_; }

 private:
  size_t most_;
  std::map<Rule, size_t, std::less<>> kept_;
  std::map<Rule, Rest, std::less<>> rest_;
};

struct SeverityCounts {
  size_t errors = 0, warnings = 0, notes = 0;
};
template <class Findings>
[[nodiscard]] SeverityCounts count_severities(const Findings& findings) {
  SeverityCounts counts;
  for (const FindingText& finding : findings) {
    ++(finding.severity == Severity::kError     ? counts.errors
       : finding.severity == Severity::kWarning ? counts.warnings
                                                : counts.notes);
  }
  return counts;
}

}  // namespace msdump
