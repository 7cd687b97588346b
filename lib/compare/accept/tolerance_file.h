// --tolerances FILE: how much each tensor may differ.
//
//   line      GLOB [rtol=X] [atol=X] [METRIC>=X ...]       relations >= > <= < (metric_limit.h)
//   glob      *BatchNorm*              the operator's name; '/' and '.' match the '_' that file names have instead
//             *BatchNorm*:output:0     name, io and slot; "name:output" is every output
//             type:Conv2D*             the operator's type
//             dtype:float16            the dtype of either side
//   #         begins a comment, at the start of a line or after a blank; in a glob write `?` for a '#' or a blank
//
// The last rule that matches a tensor applies, alone, as in .gitattributes. It replaces --rtol, --atol and --metric; a
// rule without values means the default tolerance.
// Bounds: 4 MiB, 100,000 rules, 4096 bytes a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/quick_glob.h"
#include "compare/accept/metric_limit.h"
#include "compare/pair/tolerance.h"
#include "dump/names/identity.h"
#include "tensor/dtype.h"

namespace msdump {

struct ToleranceRule {
  size_t line = 0;
  Tolerance tolerance;
  std::vector<MetricLimit> limits;
};

// What a rule is matched against.
struct ToleranceSubject {
  std::string_view op_name = {}, op_type = {};
  Io io = Io::kOutput;
  std::string_view slot = {};
  DType dtype_a = DType::kUndefined, dtype_b = DType::kUndefined;
};

class ToleranceRules {
 public:
  // kUsage with "line L, column C: .." (columns in bytes, from 1) and the nearest word; kTooLarge beyond the bounds.
  static Result<ToleranceRules> parse(std::string_view text);
  static Result<ToleranceRules> read(const std::string& path);

  // The last rule that matches; null when none does. Thread-safe. A hundred rules with wildcards cost a few
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

  Status add_line(std::string_view line, size_t number);
  Status add_glob(std::string_view pattern);
  static bool fits(const Glob& glob, const ToleranceSubject& subject, const Names& names);

  std::vector<ToleranceRule> rules_;
  std::vector<Glob> globs_;                          // in the order of the rules
  std::unordered_map<std::string, uint32_t> plain_;  // names and tensors without wildcards: their last rule
};

}  // namespace msdump
