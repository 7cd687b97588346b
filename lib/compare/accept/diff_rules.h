// MetricLimit: a limit on a metric, as typed: `cosine>=0.9999`, `max_ulp <= 4`. Relations are >= > <= <; blanks are ignored.
// `relative_l2<=0.0085 or max_abs<=1e-3`: one of them has to hold, and among several limits each of those between two `or`.
//
// How limits change a verdict:
//   1. a pair that breaks a limit differs; the verdicts nan, shape and dtype stay
//   2. a pair that keeps all limits is close if the user gave neither rtol nor atol: limits replace the default
//      tolerance. With rtol or atol both have to hold
//   3. a metric that is not defined (the cosine of zeros, ULP of two dtypes) breaks a limit unless the tensors are equal
//   4. pairs that were not compared element by element keep their verdict
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "compare/accept/baseline.h"
#include "compare/pair/metric_table.h"
#include "compare/pair/tensor_diff.h"
#include "compare/pair/tolerance.h"
#include "dump/names/identity.h"
#include "io/rule_file.h"
#include "tensor/dtype.h"

namespace msdump {

enum class MetricRelation : uint8_t { kAtLeast, kAbove, kAtMost, kBelow };

struct MetricLimit {
  const Metric* metric = nullptr;
  MetricRelation relation = MetricRelation::kAtLeast;
  double bound = 0;
  bool or_next = false;  // the next limit may hold instead
};

// kUsage, with the nearest name for an unknown metric.
Result<MetricLimit> parse_metric_limit(std::string_view text);
// Limits that are joined by the word "or".
Result<std::vector<MetricLimit>> parse_alternatives(std::string_view text);
[[nodiscard]] std::string text_of(const MetricLimit& limit);  // "cosine>=0.9999"

enum class LimitCheck : uint8_t { kHolds, kBroken, kUndefined };  // kUndefined: not broken (rules 3 and 4)
[[nodiscard]] LimitCheck check_limit(const MetricLimit& limit, const TensorDiff& diff);

// True if a limit is on a metric that is computed on request only.
[[nodiscard]] bool need_request(std::span<const MetricLimit> limits);

// Applies rules 1 and 2, and adds each broken limit, with the value, to `reason`. `diff` was made with `tolerance`.
void judge_by_limits(std::span<const MetricLimit> limits, const Tolerance& tolerance, TensorDiff& diff);

// ToleranceRules: the file of --tolerances, how much each tensor may differ.
//
//   line      GLOB [rtol=X] [atol=X] [METRIC>=X [or METRIC>=X ...] ...]     relations >= > <= <, as above
//   glob      *BatchNorm*              the operator's name; '/' and '.' match the '_' that file names have instead
//             *BatchNorm*:output:0     name, io and slot; "name:output" is every output
//             type:Conv2D*             the operator's type
//             dtype:float16            the dtype of either side
//   #         begins a comment, at the start of a line or after a blank; in a glob write `?` for a '#' or a blank
//
// The last rule that matches a tensor applies, alone, as in .gitattributes. It replaces --rtol, --atol and --metric; a
// rule without values means the default tolerance.
// Bounds: 4 MiB, 100,000 rules, 4096 bytes a line.

struct ToleranceRule {
  size_t line = 0;
  Tolerance tolerance;
  std::vector<MetricLimit> limits;
};

// The tensor that rules are matched against.
struct ToleranceSubject {
  std::string_view op_name = {}, op_type = {};
  Io io = Io::kOutput;
  std::string_view slot = {};
  DType dtype_a = DType::kUndefined, dtype_b = DType::kUndefined;
};

class ToleranceRules {
 public:
  // kUsage with "line L, column C: .." and the closest word; kTooLarge beyond the bounds (io/rule_file.h).
  static Result<ToleranceRules> parse(std::string_view text);
  static Result<ToleranceRules> read(const std::string& path);

  // The last rule that matches; null if none does. Thread-safe. A hundred rules with wildcards cost a few
  // microseconds; plain names one look-up, however many there are.
  [[nodiscard]] const ToleranceRule* rule_for(const ToleranceSubject& subject) const;

  [[nodiscard]] const std::vector<ToleranceRule>& rules() const { return rules_; }

 private:
  enum class Target : uint8_t { kName, kTensor, kType, kDtype };
  struct Glob {
    Target target;
    QuickGlob glob;
    uint32_t rule;
  };
  struct Names {  // of a subject, in the spelling of rules
    std::string name, tensor;
  };

  Status add_line(const RuleLine& line);
  Status add_glob(std::string_view pattern);
  static bool fits(const Glob& glob, const ToleranceSubject& subject, const Names& names);

  std::vector<ToleranceRule> rules_;
  std::vector<Glob> globs_;                          // in the order of the rules
  std::unordered_map<std::string, uint32_t> plain_;  // names and tensors without wildcards: their last rule
};

// All rules of the user on how much tensors may differ.
struct DiffRules {
  Tolerance tolerance;
  std::vector<MetricLimit> limits;
  std::optional<ToleranceRules> by_tensor;  // replaces the two above for tensors that a rule matches
  bool require_rule = false;                // a tensor that none matches differs
  std::optional<Baseline> baseline;
  bool on_request = false;  // also the metrics that take a second pass
};

}  // namespace msdump
