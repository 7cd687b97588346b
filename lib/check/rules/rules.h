// The rules of msdump check (rules.def), and the choice of them that a user makes.
//
// The watchpoints of MindInsight's offline debugger keep their abbreviations, parameters and formulas. They have no
// thresholds until some are given. The other rules have defaults that are quiet on healthy dumps.
//
//   --rule NAME                      the rule with its defaults, also one that is off by default
//   --rule NAME:param=value[,..]     with these parameters; NAME may be an abbreviation (TL), which may be of several
//   --rule NAME:off                  not this one
//   --rule none|default|all          replaces all before it: no rule, those that are on by default, every rule
//   parameters of every rule         severity=error|warning|note, op=GLOB (only operators of this name)
//
// A file (--rules) has one such text a line, '#' begins a comment. It replaces the whole set: before its first line no
// rule is on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "findings/finding.h"

namespace msdump::check {

enum class RuleId : uint8_t {
#define RULE(ID, ...) k##ID,
#include "check/rules/rules.def"
#undef RULE
};
inline constexpr size_t kRules = 0
#define RULE(...) +1
#include "check/rules/rules.def"
#undef RULE
    ;

enum class Target : uint8_t { kTensor, kActivation, kGradient, kWeight, kOperator, kTree };
[[nodiscard]] std::string_view name_of(Target target);

enum class Needs : uint8_t {
  kNumbers,   // tensors, statistic.csv or dump.json
  kCounts,    // tensors, or tables with the counts it is about
  kElements,  // tensors only
  kTree,      // names, sizes and headers
  kResults,   // files of msprobe's tools
};
[[nodiscard]] std::string_view name_of(Needs needs);

// How findings of a rule are treated beside the others.
enum RuleTraits : uint8_t {
  kPlain = 0,
  kSpreads = 1,        // an operator passes the fault on: its input repeats the finding of the producer's output
  kAnySelection = 2,   // reported whatever tensors the user selected
  kCannotJudge = 4,    // an error of the check in JUnit, no failure of the dump
  kComparesRanks = 8,  // needs the digests of tensors
  kGrows = 16,         // values that go wrong without NaN: the cause may lie in an earlier step
};

struct RuleParameter {
  std::string_view name;
  double default_value;  // NaN: not judged until it is given
  double least, most;
};

// A row of rules.def.
struct RuleInfo {
  RuleId id;
  std::string_view name, abbreviations;
  Target target;
  Severity severity;
  Needs needs;
  bool on_by_default;
  uint8_t traits;
  std::vector<RuleParameter> parameters;
  std::string_view formula, value, hint;

  [[nodiscard]] bool has(RuleTraits trait) const { return (traits & trait) != 0; }
  [[nodiscard]] bool has_parameter(std::string_view parameter) const;
};
[[nodiscard]] std::span<const RuleInfo> all_rules();  // in the order of RuleId
[[nodiscard]] const RuleInfo& info(RuleId id);
[[nodiscard]] inline std::string_view name_of(RuleId id) { return info(id).name; }

struct Rule {
  bool on = false;
  Severity severity = Severity::kNote;
  bool is_named = false;       // requested by its name, not by `all`
  std::vector<double> values;  // by RuleInfo::parameters; NaN: not judged
  std::vector<std::string> ops;

  // True if it judges operators of this name. A '/' in a glob also matches the '_' of file names.
  [[nodiscard]] bool takes(std::string_view op_name) const;
};

class RuleSet {
 public:
  static RuleSet defaults();
  static RuleSet none();
  // Replaces the set. kUsage and the errors of reading name the file and the line.
  static Result<RuleSet> read(const std::string& path);
  static Result<RuleSet> parse(std::string_view text);

  // Applies the text of one --rule. kUsage if it has a mistake; the message about an unknown name has the nearest one.
  Status apply(std::string_view text);
  // kUsage if no rule is on, or if a rule that was requested by name has no limit, or a range without ends.
  [[nodiscard]] Status check_complete() const;

  [[nodiscard]] const Rule& operator[](RuleId id) const { return rules_[static_cast<size_t>(id)]; }
  [[nodiscard]] bool on(RuleId id) const { return (*this)[id].on; }
  // The value of a parameter that the rule has.
  [[nodiscard]] double value(RuleId id, std::string_view parameter) const;
  // True if a rule that is on has a value for this parameter.
  [[nodiscard]] bool any_given(std::string_view parameter) const;

 private:
  RuleSet();
  Status set_parameter(size_t rule, std::string_view name, std::string_view value);

  std::vector<Rule> rules_;  // by RuleId
};

}  // namespace msdump::check
