#include "compare/accept/metric_limit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

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
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

tl::unexpected<Error> unknown_metric(std::string_view name) {
  const std::vector<std::string> names = metric_names();
  const auto near = closest_match(name, names);
  return fail(make_error(ErrorCode::kUsage, "no metric is called '{}'", excerpt(name))
                  .with_hint(near ? fmt::format("did you mean '{}'?", *near) : "--list-metrics names them"));
}

bool is_equal(const TensorDiff& diff) { return diff.verdict == Verdict::kSame || diff.verdict == Verdict::kEmpty; }

// As printed in a reason.
std::string value_text(const MetricLimit& limit, const TensorDiff& diff) {
  const auto value = limit.metric->value(diff);
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

std::string text_of(const MetricLimit& limit) {
  return fmt::format("{}{}{}", limit.metric->name, sign_of(limit.relation), limit.bound);
}

LimitCheck check_limit(const MetricLimit& limit, const TensorDiff& diff) {
  if (!has_metrics(diff.verdict)) return LimitCheck::kUndefined;
  const auto number = limit.metric->value(diff);
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

bool needs_kl(std::span<const MetricLimit> limits) {
  return std::any_of(limits.begin(), limits.end(), [](const MetricLimit& limit) { return limit.metric->name == "kl"; });
}

void judge_by_limits(std::span<const MetricLimit> limits, const Tolerance& tolerance, TensorDiff& diff) {
  if (limits.empty() || !has_metrics(diff.verdict)) return;
  bool broken = false;
  for (const MetricLimit& limit : limits) {
    if (check_limit(limit, diff) != LimitCheck::kBroken) continue;
    broken = true;
    if (!diff.reason.empty()) diff.reason += "; ";
    diff.reason += fmt::format("{} is {}, not {}{}", limit.metric->name, value_text(limit, diff),
                               sign_of(limit.relation), limit.bound);
  }
  if (diff.verdict == Verdict::kNan) return;
  if (broken) {
    diff.verdict = Verdict::kDiffer;
  } else if (diff.verdict == Verdict::kDiffer && !tolerance.rtol && !tolerance.atol) {
    diff.verdict = Verdict::kClose;
  }
}

}  // namespace msdump
