#include "compare/accept/diff_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "graph/op_name.h"
#include "io/file.h"

namespace msdump {
namespace {

struct Sign {
  std::string_view text;
  MetricRelation relation;
};
// Longer signs first: ">" begins ">=".
constexpr std::array kSigns = {Sign{">=", MetricRelation::kAtLeast}, Sign{"<=", MetricRelation::kAtMost},
                               Sign{">", MetricRelation::kAbove}, Sign{"<", MetricRelation::kBelow}};
constexpr std::string_view kForm = "a limit is METRIC>=NUMBER, or with > <= <";

std::string_view sign_of(MetricRelation relation) {
  return std::find_if(kSigns.begin(), kSigns.end(), [relation](Sign sign) { return sign.relation == relation; })->text;
}

std::optional<double> finite_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::optional<double> value = parse_f64(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

tl::unexpected<Error> unknown_metric(std::string_view name) {
  return fail(make_error(ErrorCode::kUsage, "no metric is called '{}'", excerpt(name))
                  .with_hint(did_you_mean(name, metric_names(), "--list-metrics names them")));
}

bool is_equal(const TensorDiff& diff) { return diff.verdict == Verdict::kSame || diff.verdict == Verdict::kEmpty; }

// The value of the metric, for a reason.
std::string value_text(const MetricLimit& limit, const TensorDiff& diff) {
  const auto value = limit.metric->value(diff, diff.metrics);
  if (!value) return "not defined";
  if (const auto* whole = std::get_if<uint64_t>(&*value)) return std::to_string(*whole);
  return report::number_text(std::get<double>(*value));
}

}  // namespace

Result<MetricLimit> parse_metric_limit(std::string_view text) {
  const size_t at = text.find_first_of("<>=");
  if (at == std::string_view::npos) {
    return fail(make_error(ErrorCode::kUsage, "'{}' is not a limit", excerpt(text)).with_hint(std::string(kForm)));
  }
  const auto* const sign =
      std::find_if(kSigns.begin(), kSigns.end(), [&](Sign known) { return text.substr(at).starts_with(known.text); });
  if (sign == kSigns.end()) {
    return fail(
        make_error(ErrorCode::kUsage, "'{}' has no relation >= > <= <", excerpt(text)).with_hint(std::string(kForm)));
  }
  const std::string_view name = trimmed(text.substr(0, at)), number = trimmed(text.substr(at + sign->text.size()));
  MetricLimit limit;
  limit.relation = sign->relation;
  limit.metric = find_metric(name);
  if (limit.metric == nullptr) return unknown_metric(name);
  const auto bound = finite_number(number);
  if (!bound) {
    return fail(
        make_error(ErrorCode::kUsage, "'{}' is not a number that {} can be compared with", excerpt(number), name)
            .with_hint(std::string(kForm)));
  }
  limit.bound = *bound;
  return limit;
}

Result<std::vector<MetricLimit>> parse_alternatives(std::string_view text) {
  constexpr std::string_view kOr = " or ";
  std::vector<MetricLimit> limits;
  for (size_t begin = 0;;) {
    const size_t end = text.find(kOr, begin);
    MSDUMP_TRY(MetricLimit limit, parse_metric_limit(trimmed(text.substr(begin, end - begin))));
    limit.or_next = end != std::string_view::npos;
    limits.push_back(limit);
    if (!limit.or_next) return limits;
    begin = end + kOr.size();
  }
}

std::string text_of(const MetricLimit& limit) {
  return fmt::format("{}{}{}", limit.metric->name, sign_of(limit.relation), limit.bound);
}

LimitCheck check_limit(const MetricLimit& limit, const TensorDiff& diff) {
  if (!has_metrics(diff.verdict)) return LimitCheck::kUndefined;
  const auto number = limit.metric->value(diff, diff.metrics);
  if (!number) return is_equal(diff) ? LimitCheck::kUndefined : LimitCheck::kBroken;
  const double value = std::visit([](auto plain) { return static_cast<double>(plain); }, *number);
  bool holds = false;
  switch (limit.relation) {
    case MetricRelation::kAtLeast: holds = value >= limit.bound; break;
    case MetricRelation::kAbove: holds = value > limit.bound; break;
    case MetricRelation::kAtMost: holds = value <= limit.bound; break;
    case MetricRelation::kBelow: holds = value < limit.bound; break;
  }
  return holds ? LimitCheck::kHolds : LimitCheck::kBroken;
}

bool need_request(std::span<const MetricLimit> limits) {
  return std::any_of(limits.begin(), limits.end(), [](const MetricLimit& limit) { return limit.metric->on_request; });
}

void judge_by_limits(std::span<const MetricLimit> limits, const Tolerance& tolerance, TensorDiff& diff) {
  if (limits.empty() || !has_metrics(diff.verdict)) return;
  bool broken = false;
  for (size_t begin = 0, end = 0; begin < limits.size(); begin = end) {
    end = begin + 1;
    while (end < limits.size() && limits[end - 1].or_next) ++end;
    const auto alternatives = limits.subspan(begin, end - begin);
    if (!std::all_of(alternatives.begin(), alternatives.end(),
                     [&](const MetricLimit& limit) { return check_limit(limit, diff) == LimitCheck::kBroken; }))
      continue;
    broken = true;
    std::string reason = *diff.reason;
    std::string_view joint = reason.empty() ? "" : "; ";
    for (const MetricLimit& limit : alternatives) {
      reason += fmt::format("{}{} is {}, not {}{}", joint, limit.metric->name, value_text(limit, diff),
                            sign_of(limit.relation), limit.bound);
      joint = ", and ";
    }
    diff.reason = std::move(reason);
  }
  if (diff.verdict == Verdict::kNan) return;
  if (broken) {
    diff.verdict = Verdict::kDiffer;
  } else if (diff.verdict == Verdict::kDiffer && !tolerance.rtol && !tolerance.atol) {
    diff.verdict = Verdict::kClose;
  }
}

namespace {

constexpr RuleFormat kToleranceLines = {.content = "tolerances",
                                        .rule = "rules",
                                        .most_bytes = uint64_t{4} << 20,
                                        .most_rules = 100'000,
                                        .most_line_bytes = 4096};
constexpr std::string_view kTypePrefix = "type:", kDtypePrefix = "dtype:";

Result<double> tolerance_value(std::string_view key, std::string_view text) {
  const std::optional<double> value = parse_f64(text);
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  return fail(ErrorCode::kUsage, "{} is '{}'; expected a number, 0 or more", key, excerpt(text));
}

// Reads one setting: "rtol=1e-3" or "cosine>=0.99". `is_alternative`: the word before it was "or".
Status take_setting(std::string_view text, bool is_alternative, ToleranceRule& rule) {
  if (is_alternative && (rule.limits.empty() || rule.limits.back().or_next))
    return fail(ErrorCode::kUsage, "'or' joins two limits on metrics");
  const size_t sign = text.find_first_of("<>=");
  const std::string_view key = text.substr(0, sign);
  if (key == "rtol" || key == "atol") {
    if (is_alternative) return fail(ErrorCode::kUsage, "'or' joins two limits on metrics; {} is none", key);
    if (sign == std::string_view::npos || text[sign] != '=') {
      return fail(make_error(ErrorCode::kUsage, "'{}' gives {} no value", excerpt(text), key)
                      .with_hint(fmt::format("write {}=1e-3, without blanks", key)));
    }
    MSDUMP_TRY(const double value, tolerance_value(key, text.substr(sign + 1)));
    (key == "rtol" ? rule.tolerance.rtol : rule.tolerance.atol) = value;
    return {};
  }
  if (find_metric(key) == nullptr) {
    std::vector<std::string> names = metric_names();
    names.insert(names.end(), {"rtol", "atol"});
    return fail(make_error(ErrorCode::kUsage, "'{}' is neither a tolerance nor a metric", excerpt(key))
                    .with_hint(did_you_mean(key, names, "a rule is GLOB rtol=X atol=X METRIC>=X")));
  }
  MSDUMP_TRY(MetricLimit limit, parse_metric_limit(text));
  if (is_alternative) rule.limits.back().or_next = true;
  rule.limits.push_back(limit);
  return {};
}

// The name of a dtype for any of its spellings; globs unchanged.
Result<std::string> dtype_pattern(std::string_view text) {
  if (text.find_first_of("*?") != std::string_view::npos) return to_lower(text);
  if (const auto dtype = dtype_from_name(text)) return std::string(name_of(*dtype));
  std::vector<std::string> names;
  for (const DTypeInfo& entry : all_dtypes()) names.emplace_back(entry.name);
  return fail(
      make_error(ErrorCode::kUsage, "no dtype is called '{}'", excerpt(text)).with_hint(did_you_mean(text, names)));
}

bool ends_in_io(std::string_view pattern) {
  const size_t colon = pattern.rfind(':');
  return colon != std::string_view::npos && io_named(pattern.substr(colon + 1)).has_value();
}

}  // namespace

Result<ToleranceRules> ToleranceRules::parse(std::string_view text) {
  ToleranceRules result;
  MSDUMP_CHECK_OK(for_each_rule(text, kToleranceLines, [&](const RuleLine& line) { return result.add_line(line); }));
  return result;
}

Result<ToleranceRules> ToleranceRules::read(const std::string& path) {
  MSDUMP_TRY(const std::string text, read_text(path, kToleranceLines.most_bytes, "a file of tolerances"));
  return in_file(parse(text), path);
}

Status ToleranceRules::add_line(const RuleLine& line) {
  const std::vector<RuleWord> words = line.words();
  ToleranceRule rule;
  rule.line = line.number;
  for (size_t i = 1; i < words.size(); ++i) {
    const bool is_alternative = i > 1 && words[i].text == "or";
    if (is_alternative && i + 1 < words.size()) ++i;
    if (Status taken = take_setting(words[i].text, is_alternative, rule); !taken)
      return line.wrong(words[i], std::move(taken.error()));
  }
  rules_.push_back(std::move(rule));
  if (Status added = add_glob(words[0].text); !added) return line.wrong(words[0], std::move(added.error()));
  return {};
}

Status ToleranceRules::add_glob(std::string_view pattern) {
  const auto rule = static_cast<uint32_t>(rules_.size() - 1);
  if (pattern.starts_with(kTypePrefix)) {
    globs_.push_back({Target::kType, QuickGlob(std::string(pattern.substr(kTypePrefix.size()))), rule});
    return {};
  }
  if (pattern.starts_with(kDtypePrefix)) {
    MSDUMP_TRY(std::string dtype, dtype_pattern(pattern.substr(kDtypePrefix.size())));
    globs_.push_back({Target::kDtype, QuickGlob(std::move(dtype)), rule});
    return {};
  }
  // A setting as the first word means that the glob is missing.
  if (const size_t sign = pattern.find_first_of("<>="); sign != std::string_view::npos) {
    const std::string_view key = pattern.substr(0, sign);
    if (key == "rtol" || key == "atol" || find_metric(key) != nullptr) {
      return fail(make_error(ErrorCode::kUsage, "'{}' where a glob is expected", excerpt(pattern))
                      .with_hint(fmt::format("for all tensors: * {}", excerpt(pattern))));
    }
  }
  std::string text = normalised_op_name(pattern);
  if (ends_in_io(text)) text += ":*";
  QuickGlob glob(std::move(text));
  if (glob.is_plain()) {
    plain_[glob.pattern()] = rule;
  } else {
    const bool of_tensor = glob.pattern().find(':') != std::string::npos;
    globs_.push_back({of_tensor ? Target::kTensor : Target::kName, std::move(glob), rule});
  }
  return {};
}

bool ToleranceRules::fits(const Glob& glob, const ToleranceSubject& subject, const Names& names) {
  switch (glob.target) {
    case Target::kName: return glob.glob.matches(names.name);
    case Target::kTensor: return glob.glob.matches(names.tensor);
    case Target::kType: return glob.glob.matches(subject.op_type);
    case Target::kDtype:
      return glob.glob.matches(msdump::name_of(subject.dtype_a)) || glob.glob.matches(msdump::name_of(subject.dtype_b));
  }
  return false;
}

const ToleranceRule* ToleranceRules::rule_for(const ToleranceSubject& subject) const {
  if (rules_.empty()) return nullptr;
  Names names{normalised_op_name(subject.op_name), {}};
  names.tensor = normalised_op_name(fmt::format("{}:{}:{}", names.name, msdump::name_of(subject.io), subject.slot));
  int64_t best = -1;
  for (const std::string* text : {&names.name, &names.tensor}) {
    if (const auto found = plain_.find(*text); found != plain_.end()) best = std::max<int64_t>(best, found->second);
  }
  for (auto glob = globs_.rbegin(); glob != globs_.rend() && glob->rule > best; ++glob) {
    if (!fits(*glob, subject, names)) continue;
    best = glob->rule;
    break;
  }
  return best < 0 ? nullptr : &rules_[static_cast<size_t>(best)];
}

}  // namespace msdump
