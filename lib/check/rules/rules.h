// The rules of msdump check: what each judges, by which formula, with which parameters, and how severe it is.
// The watchpoints of MindInsight's offline debugger keep their abbreviations, parameters and formulas; they have no
// thresholds until some are given. The others have defaults that are quiet on healthy dumps.
//
//   --rule NAME                      the rule with its defaults, also one that is off by default
//   --rule NAME:param=value[,..]     with these parameters; NAME may be an abbreviation (TL), which may be of several
//   --rule NAME:off                  not this one
//   --rule none|default|all          replaces all before it: no rule, those that are on by default, every rule
//   parameters of every rule         severity=error|warning|note, op=GLOB (only operators of this name)
//
// A file (--rules) has one such text a line, '#' begins a comment. It replaces the whole set: before its first line no
// rule is on. Source of the watchpoints: reference/compare-and-check.md section 4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/rules/finding.h"

namespace msdump::check {

enum class RuleId : uint8_t {
  kNan,
  kInf,
  kSaturation,
  kSubnormal,
  kAllZero,
  kConstant,
  kTooLarge,
  kTooSmall,
  kTensorRange,
  kActivationRange,
  kWeightInitialization,
  kWeightTooLarge,
  kWeightTooSmall,
  kDeadRows,
  kWeightUnchanged,
  kWeightChangeLarge,
  kWeightChangeSmall,
  kGradientTooLarge,
  kGradientExploding,
  kGradientVanishing,
  kOperatorOverflow,
  kException,
  kMemoryStomp,
  kUnreadable,
  kEmptyFile,
  kSizeAgainstName,
  kIncompleteCheckpoint,
  kIncompleteStep,
  kMissingStep,
  kStopped,
  kMissingFiles,
  kMissingSlots,
  kUnexplainedFiles,
  kPartialDump,
  kAccCheck,
  kPrecisionCompare,
  kFreeBenchmark,
  kAnomaly,
  kMonitorAlert,
  kCollectiveMismatch,
  kReplicaMismatch,
  kRankMissing,
};
inline constexpr size_t kRules = static_cast<size_t>(RuleId::kRankMissing) + 1;

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

struct RuleParameter {
  std::string_view name;
  double standard;  // NaN: not judged until it is given
  double least, most;
};

struct RuleInfo {
  RuleId id;
  std::string_view name;           // the word of machine output
  std::string_view abbreviations;  // of MindInsight: "WO GE TO"
  Target target;
  Severity severity;
  Needs needs;
  bool standard;  // on by default
  std::vector<RuleParameter> parameters;
  std::string_view formula;
  std::string_view value;  // what `value` of its findings is, with its unit: "percent of the elements"
};
[[nodiscard]] std::span<const RuleInfo> all_rules();  // in the order of RuleId
[[nodiscard]] const RuleInfo& info(RuleId id);

struct Rule {
  bool on = false;
  Severity severity = Severity::kNote;
  bool by_name = false;        // requested by its name, not by `all`
  std::vector<double> values;  // by RuleInfo::parameters; NaN: not judged
  std::vector<std::string> ops;

  // Does it judge operators of this name? A '/' in a glob also matches the '_' of file names.
  [[nodiscard]] bool takes(std::string_view op_name) const;
};

class RuleSet {
 public:
  static RuleSet defaults();
  static RuleSet none();
  // Replaces the set. kUsage and the errors of reading name the file and the line.
  static Result<RuleSet> read(const std::string& path);
  static Result<RuleSet> parse(std::string_view text);

  // One --rule. kUsage with did-you-mean.
  Status apply(std::string_view text);
  // Can every rule that was requested by name be judged? kUsage if one has no limit yet, or a range without ends, and
  // if no rule is on at all.
  [[nodiscard]] Status check_complete() const;

  [[nodiscard]] const Rule& operator[](RuleId id) const { return rules_[static_cast<size_t>(id)]; }
  [[nodiscard]] bool on(RuleId id) const { return (*this)[id].on; }
  // The value of a parameter that the rule has.
  [[nodiscard]] double value(RuleId id, std::string_view parameter) const;
  // Is any parameter of this name given, of a rule that is on?
  [[nodiscard]] bool any_given(std::string_view parameter) const;

 private:
  RuleSet();
  Status set_parameter(size_t rule, std::string_view name, std::string_view value);

  std::vector<Rule> rules_;  // by RuleId
};

}  // namespace msdump::check
