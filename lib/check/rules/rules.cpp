#include "check/rules/rules.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/containers.h"
#include "base/text.h"
#include "graph/op_name.h"
#include "io/file.h"

namespace msdump::check {
namespace {

constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost = std::numeric_limits<double>::max();

RuleParameter number(std::string_view name, double value = kNotGiven) { return {name, value, -kMost, kMost}; }
RuleParameter positive(std::string_view name, double value = kNotGiven) { return {name, value, 0, kMost}; }
RuleParameter percentage(std::string_view name, double value = kNotGiven) { return {name, value, 0, 100}; }

std::vector<RuleInfo> make_rules() {
  using enum Severity;
  constexpr bool kOn = true, kOff = false;
#define LIMITS(...) \
  { __VA_ARGS__ }
#define LARGE "mean |x|, max, min or mean is above its parameter"
#define LARGE_LIMITS LIMITS(positive("abs_mean_gt"), number("max_gt"), number("min_gt"), number("mean_gt"))
#define SMALL "mean |x|, max, min or mean is below its parameter"
#define SMALL_LIMITS LIMITS(positive("abs_mean_lt"), number("max_lt"), number("min_lt"), number("mean_lt"))
#define RANGE "the share of elements in [start, end], or max - min, is below or above its parameter"
#define RANGE_LIMITS \
  LIMITS(number("range_start_inclusive"), number("range_end_inclusive"), percentage("range_percentage_lt"), \
         percentage("range_percentage_gt"), positive("max_min_lt"), positive("max_min_gt"))
#define RULE(ID, NAME, ABBREVIATIONS, TARGET, SEVERITY, NEEDS, ON, TRAITS, PARAMETERS, FORMULA, VALUE, HINT) \
  RuleInfo{RuleId::k##ID, NAME,       ABBREVIATIONS, Target::TARGET, SEVERITY, Needs::NEEDS, ON, \
           TRAITS,        PARAMETERS, FORMULA,       VALUE,          HINT},
  return {
#include "check/rules/rules.def"
  };
#undef RULE
}

constexpr uint64_t kMostText = uint64_t{1} << 20;
constexpr size_t kMostGlobs = 1000;  // of one rule

bool has_abbreviation(const RuleInfo& rule, std::string_view word) {
  if (rule.abbreviations.empty()) return false;
  const auto words = split(rule.abbreviations, ' ');
  return std::any_of(words.begin(), words.end(), [&](auto one) { return equals_ignoring_case(one, word); });
}

// Indices of the rules that a word names: one by its name, or all with that abbreviation.
std::vector<size_t> rules_called(std::string_view word) {
  std::vector<size_t> found;
  const auto rules = all_rules();
  for (size_t i = 0; i < rules.size(); ++i) {
    if (equals_ignoring_case(rules[i].name, word)) return {i};
    if (has_abbreviation(rules[i], word)) found.push_back(i);
  }
  return found;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = closest_match(word, candidates);
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

tl::unexpected<Error> unknown_rule(std::string_view word) {
  std::vector<std::string> names = {"none", "default", "all"};
  for (const RuleInfo& rule : all_rules()) names.emplace_back(rule.name);
  return fail(make_error(ErrorCode::kUsage, "there is no rule '{}'{}", excerpt(word), nearest(word, names))
                  .with_hint("msdump check --list-rules names all"));
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

std::string_view name_of(Target target) {
  static constexpr auto kNames =
      enum_table<Target, std::string_view>("tensor", "activation", "gradient", "weight", "operator", "tree");
  return kNames[target];
}

std::string_view name_of(Needs needs) {
  static constexpr auto kNames = enum_table<Needs, std::string_view>(
      "tensors or statistics", "tensors or counts", "tensors", "names and sizes", "results of msprobe");
  return kNames[needs];
}

std::span<const RuleInfo> all_rules() {
  static const std::vector<RuleInfo> kTable = make_rules();
  return kTable;
}

const RuleInfo& info(RuleId id) { return all_rules()[static_cast<size_t>(id)]; }

bool RuleInfo::has_parameter(std::string_view parameter) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const RuleParameter& one) { return one.name == parameter; });
}

bool Rule::takes(std::string_view op_name) const {
  if (ops.empty()) return true;
  return std::any_of(ops.begin(), ops.end(), [&](const std::string& glob) {
    if (glob_match(glob, op_name)) return true;
    return glob.find('/') != std::string::npos && glob_match(normalised_op_name(glob), normalised_op_name(op_name));
  });
}

RuleSet::RuleSet() : rules_(all_rules().size()) {
  for (size_t i = 0; i < rules_.size(); ++i) {
    const RuleInfo& rule = all_rules()[i];
    rules_[i].severity = rule.severity;
    for (const RuleParameter& parameter : rule.parameters) rules_[i].values.push_back(parameter.default_value);
  }
}

RuleSet RuleSet::none() { return {}; }

RuleSet RuleSet::defaults() {
  RuleSet set;
  for (size_t i = 0; i < set.rules_.size(); ++i) set.rules_[i].on = all_rules()[i].on_by_default;
  return set;
}

Result<RuleSet> RuleSet::parse(std::string_view text) {
  RuleSet set = none();
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const Status applied = set.apply(line);
    if (applied) continue;
    Error error = applied.error();
    error.message = fmt::format("line {}: {}", number, error.message);
    return fail(std::move(error));
  }
  return set;
}

Result<RuleSet> RuleSet::read(const std::string& path) {
  MSDUMP_TRY(const File file, File::open(path));
  if (file.size() > kMostText) {
    return fail(make_error(ErrorCode::kUsage, "a file of {}; rules take {} at most", human_bytes(file.size()),
                           human_bytes(kMostText))
                    .with_path(path));
  }
  MSDUMP_TRY(const std::string text, read_text(file, kMostText, "rules"));
  return in_file(parse(text), path);
}

Status RuleSet::apply(std::string_view text) {
  const std::string_view name = trimmed(text.substr(0, text.find(':')));
  const bool has_parameters = text.find(':') != std::string_view::npos;
  const std::string_view parameters = has_parameters ? trimmed(text.substr(text.find(':') + 1)) : std::string_view();
  if (!has_parameters && (name == "none" || name == "default" || name == "all")) {
    *this = name == "default" ? defaults() : none();
    if (name == "all") {
      for (Rule& rule : rules_) rule.on = true;
    }
    return {};
  }
  const std::vector<size_t> called = rules_called(name);
  if (called.empty()) return unknown_rule(name);
  for (const size_t rule : called) {
    rules_[rule].on = rules_[rule].is_named = parameters != "off";
    if (parameters.empty() || parameters == "off") continue;
    for (const std::string_view item : split(parameters, ',')) {
      const size_t equals = item.find('=');
      if (equals == std::string_view::npos) {
        return fail(make_error(ErrorCode::kUsage, "rule {1} has no parameter '{0}'", excerpt(trimmed(item)),
                               all_rules()[rule].name)
                        .with_hint("parameters are written NAME:param=value[,param=value]; NAME:off turns a rule off"));
      }
      MSDUMP_CHECK_OK(set_parameter(rule, trimmed(item.substr(0, equals)), trimmed(item.substr(equals + 1))));
    }
  }
  return {};
}

Status RuleSet::set_parameter(size_t index, std::string_view name, std::string_view text) {
  const RuleInfo& rule = all_rules()[index];
  Rule& into = rules_[index];
  if (name == "severity") {
    const std::optional<Severity> severity = parse_severity(text);
    if (!severity) {
      return fail(ErrorCode::kUsage, "severity '{}' of rule {}: there are error, warning and note", excerpt(text),
                  rule.name);
    }
    into.severity = *severity;
    return {};
  }
  if (name == "op") {
    if (text.empty() || into.ops.size() >= kMostGlobs) {
      return fail(ErrorCode::kUsage, "rule {}: op takes a glob, and a rule at most {}", rule.name, kMostGlobs);
    }
    into.ops.emplace_back(text);
    return {};
  }
  std::vector<std::string> names = {"severity", "op"};
  for (size_t i = 0; i < rule.parameters.size(); ++i) {
    const RuleParameter& parameter = rule.parameters[i];
    names.emplace_back(parameter.name);
    if (parameter.name != name) continue;
    const auto value = parse_number(text);
    if (!value || *value < parameter.least || *value > parameter.most) {
      return fail(ErrorCode::kUsage, "{} '{}' of rule {}: not a number{}", name, excerpt(text), rule.name,
                  parameter.most == 100  ? " from 0 to 100"
                  : parameter.least == 0 ? " from 0 on"
                                         : "");
    }
    into.values[i] = *value;
    return {};
  }
  return fail(
      make_error(ErrorCode::kUsage, "rule {} has no parameter '{}'{}", rule.name, excerpt(name), nearest(name, names))
          .with_hint("msdump check --list-rules names all"));
}

Status RuleSet::check_complete() const {
  const auto complain = [](const RuleInfo& rule, std::string_view what) {
    return fail(make_error(ErrorCode::kUsage, "rule {} {}", rule.name, what)
                    .with_hint("msdump check --list-rules shows its parameters"));
  };
  bool any = false;
  for (size_t i = 0; i < rules_.size(); ++i) {
    const RuleInfo& rule = all_rules()[i];
    any = any || rules_[i].on;
    if (!rules_[i].on || !rules_[i].is_named || rule.parameters.empty()) continue;
    const std::vector<double>& values = rules_[i].values;
    if (std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
      return complain(rule, fmt::format("has no limit: {}:{}=..", rule.name, rule.parameters.front().name));
    }
    const auto given = [&](std::string_view name) { return !std::isnan(value(rule.id, name)); };
    if (!rule.has_parameter("range_start_inclusive")) continue;
    const bool share = given("range_percentage_lt") || given("range_percentage_gt");
    const bool start = given("range_start_inclusive"), end = given("range_end_inclusive");
    if (!share && !given("max_min_lt") && !given("max_min_gt")) {
      return complain(rule, "has no limit: range_percentage_lt, range_percentage_gt, max_min_lt or max_min_gt");
    }
    if (share && !(start && end)) return complain(rule, "needs range_start_inclusive and range_end_inclusive");
    if (start && end && value(rule.id, "range_start_inclusive") > value(rule.id, "range_end_inclusive"))
      return complain(rule, "has a range that ends before it begins");
  }
  if (any) return {};
  return fail(make_error(ErrorCode::kUsage, "no rule is on").with_hint("msdump check --list-rules names all"));
}

double RuleSet::value(RuleId id, std::string_view parameter) const {
  const auto& parameters = info(id).parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return (*this)[id].values[i];
  }
  return std::nan("");
}

bool RuleSet::any_given(std::string_view parameter) const {
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].on && !std::isnan(value(static_cast<RuleId>(i), parameter))) return true;
  }
  return false;
}

}  // namespace msdump::check
