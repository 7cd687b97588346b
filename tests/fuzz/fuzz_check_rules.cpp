// Any bytes as a file of rules, and as a single --rule: either a set whose parameters are within their bounds, or one line
// that says what is wrong. A set that was taken is taken again, line by line.
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "check/rules/rules.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using namespace msdump::check;
using fuzz::require;

void check_set(const RuleSet& rules) {
  for (const RuleInfo& rule : all_rules()) {
    const Rule& set = rules[rule.id];
    require(set.values.size() == rule.parameters.size(), "a rule keeps its parameters");
    for (size_t i = 0; i < set.values.size(); ++i) {
      const RuleParameter& parameter = rule.parameters[i];
      const double value = set.values[i];
      require(
          std::isnan(value) ? std::isnan(parameter.default_value) : value >= parameter.least && value <= parameter.most,
          "a parameter is within its bounds");
    }
    (void)set.takes("Default/conv1-Conv2d/Conv2D-op12");
  }
}

void check_error(const Error& error) {
  require(error.code == ErrorCode::kUsage, "what is typed wrong is a usage error");
  require(!error.message.empty() && error.message.find('\n') == std::string::npos, "an error is one line");
  require(error.message.size() < 1000, "an error quotes little");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<RuleSet> file = RuleSet::parse(text);
  if (file) {
    check_set(*file);
  } else {
    check_error(file.error());
  }
  RuleSet one_by_one = RuleSet::defaults();
  for (const std::string_view line : split(text.substr(0, 4096), '\n')) {
    const Status applied = one_by_one.apply(line);
    if (!applied) check_error(applied.error());
  }
  check_set(one_by_one);
  return 0;
}
