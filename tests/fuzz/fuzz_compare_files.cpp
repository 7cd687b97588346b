// Any bytes as the files that a user gives diff: the first byte chooses tolerances, a mapping of names or a baseline, the
// rest is the text.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "compare/accept/baseline.h"
#include "compare/accept/diff_rules.h"
#include "compare/match/rename/name_map.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;

void check_error(const Error& error) {
  require(!error.message.empty(), "an error says something");
  require(error.message.find('\n') == std::string::npos, "an error is one line");
  require(error.code != ErrorCode::kInternal, "no input causes an internal error");
}

void check_globs(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.size() > 200) continue;
    const std::string_view pattern = line.substr(0, line.find(' ')),
                           name = line.substr(std::min(line.find(' ') + 1, line.size()));
    for (const std::string_view against : {name, pattern, std::string_view("Default/net/Conv2D-op12")}) {
      require(QuickGlob(std::string(pattern)).matches(against) == glob_match(pattern, against),
              "a quick glob fits what the general one fits");
    }
  }
}

void check_tolerances(std::string_view text) {
  check_globs(text.substr(0, 2000));
  const auto rules = ToleranceRules::parse(text);
  if (!rules) return check_error(rules.error());
  const ToleranceSubject subject{
      "Default/net/conv1-Conv2d/Conv2D-op12", "Conv2D", Io::kOutput, "0", DType::kFloat16, DType::kFloat32};
  const ToleranceRule* const found = rules->rule_for(subject);
  const bool is_one = std::any_of(rules->rules().begin(), rules->rules().end(),
                                  [found](const ToleranceRule& rule) { return &rule == found; });
  require(found == nullptr || is_one, "what fits is one of the rules");
  size_t line = 0;
  for (const ToleranceRule& rule : rules->rules()) {
    require(rule.line > line, "rules are in the order of their lines");
    line = rule.line;
    require(rule.tolerance.rtol.value_or(0) >= 0 && rule.tolerance.atol.value_or(0) >= 0, "no tolerance is negative");
    for (const MetricLimit& limit : rule.limits) {
      const auto again = parse_metric_limit(text_of(limit));
      require(again && again->metric == limit.metric && again->bound == limit.bound, "a limit is read back");
    }
  }
}

void check_names(std::string_view text) {
  auto content = parse_name_map(text, {});
  if (!content) return check_error(content.error());
  const NameMap map(std::move(*content));
  for (const NamePair& pair : map.operators()) {
    require(map.reference_of(pair.candidate).has_value(), "an operator that is named has a partner or none");
  }
  for (const NamePair& pair : map.tensors()) {
    const auto name = tensor_name(pair.candidate);
    require(name.has_value(), "a tensor has the name of one");
    const auto partner = map.reference_of(name->op_name, name->io, name->slot);
    require(partner.has_value(), "a tensor that is named has a partner or none");
    require(partner->op_name.empty() || !pair.reference.empty(), "no partner is made up");
  }
  for (const char* op :
       {"Functional.softmax.0.forward", "Cell.fc.Dense.forward.0", "Primitive.add.Add.0.forward", ""}) {
    (void)map.reference_of(op);
    (void)map.reference_of(op, Io::kInput, "0.1");
  }
}

void check_baseline(std::string_view text) {
  auto baseline = Baseline::parse(text);
  if (!baseline) return check_error(baseline.error());
  const auto written = baseline->text();
  require(written.has_value(), "what has been read can be written");
  auto again = Baseline::parse(*written);
  require(again && again->text() == *written, "what has been written is read back");
  for (const auto& [key, difference] : baseline->accepted()) {
    TensorDiff diff;
    diff.verdict = difference.verdict;
    kernels::PairMetrics metrics;
    metrics.relative_l2 = difference.relative_l2;
    metrics.max_abs = difference.max_abs;
    metrics.nan_mismatch = difference.mismatches;
    diff.metrics = metrics;
    require(again->accepts(key, diff), "a difference as recorded is accepted");
  }
  require(again->unused().empty(), "all have been used");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: check_tolerances(text); break;
    case 1: check_names(text); break;
    default: check_baseline(text); break;
  }
  return 0;
}
