#include "tables/monitor_csv.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace msdump {
namespace {

using namespace std::string_view_literals;

constexpr std::array kMetrics = {"grad_unreduced"sv, "grad_reduced"sv, "param_origin"sv, "param_updated"sv,
                                 "exp_avg"sv,        "exp_avg_sq"sv,   "actv"sv,         "actv_grad"sv};
constexpr std::array kMonitors = {"module"sv, "optimizer"sv, "param"sv, "weight_grad"sv, "cc"sv};
constexpr std::pair<std::string_view, StatisticColumn> kOperations[] = {{"max", StatisticColumn::kMax},
                                                                        {"min", StatisticColumn::kMin},
                                                                        {"mean", StatisticColumn::kAvg},
                                                                        {"norm", StatisticColumn::kL2Norm},
                                                                        {"nans", StatisticColumn::kNan}};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_range(std::string_view text) {
  const size_t dash = text.find('-');
  return dash != std::string_view::npos && is_digits(text.substr(0, dash)) && is_digits(text.substr(dash + 1));
}

// A count that pandas wrote as a float: "2.0".
std::string_view without_fraction(std::string_view count) {
  return count.ends_with(".0") ? count.substr(0, count.size() - 2) : count;
}

}  // namespace

std::optional<MonitorName> parse_monitor_name(std::string_view file_name) {
  constexpr std::string_view kSuffix = ".csv", kStep = "step";
  if (!file_name.ends_with(kSuffix)) return std::nullopt;
  file_name.remove_suffix(kSuffix.size());
  const size_t at = file_name.rfind('_');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view metric = file_name.substr(0, at);
  std::string_view range = file_name.substr(at + 1);
  const bool second = range.starts_with(kStep);
  if (second) range.remove_prefix(kStep.size());
  const bool known = second ? is_one_of(kMonitors, metric) : is_one_of(kMetrics, metric);
  return known && is_range(range) ? std::optional(MonitorName{metric, second}) : std::nullopt;
}

std::optional<ActivationName> parse_activation_name(std::string_view name) {
  ActivationName result;
  result.slot = "0";
  if (const size_t last = name.rfind('.'); last != std::string_view::npos && is_digits(name.substr(last + 1))) {
    result.slot = name.substr(last + 1);
    name = name.substr(0, last);
  }
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view side = name.substr(dot + 1);
  result.module = name.substr(0, dot);
  result.input = side == "input" || side == "grad_output";
  return result.input || side == "output" || side == "grad_input" ? std::optional(result) : std::nullopt;
}

bool looks_like_monitor_csv(std::string_view text) {
  return text.starts_with("vpp_stage,name,step,") || text.starts_with("vpp_stage,step,module_name,scope,");
}

Result<MonitorReader> MonitorReader::open(const File& file) {
  MonitorReader reader(file);
  auto header = reader.records_.next();
  if (!header) return fail(std::move(header).error());
  if (*header != nullptr) reader.titles_.assign((*header)->fields.begin(), (*header)->fields.end());
  const auto place = [&](std::string_view title) { return column_of(reader.titles_, title); };
  reader.scope_ = place("scope");
  reader.name_ = place(reader.scope_ ? "module_name" : "name");
  reader.step_ = place("step");
  reader.stage_ = place("vpp_stage");
  reader.shape_ = place("shape");
  reader.dtype_ = place("dtype");
  if (!reader.name_ || !reader.step_)
    return fail(make_error(ErrorCode::kBadCsv, "line 1: not the columns of a table of msprobe's monitor")
                    .with_path(file.path())
                    .with_offset(0));
  for (const auto& [title, column] : kOperations) {
    const auto found = place(title);
    if (!found) continue;
    reader.columns_.push_back(column);
    reader.places_.push_back(*found);
  }
  for (const std::string_view title : {"nans", "zeros", "shape", "dtype"}) {
    if (const auto found = place(title)) reader.facts_.push_back(*found);
  }
  return reader;
}

std::string_view MonitorReader::at(std::optional<size_t> place) const {
  return place && *place < record_->fields.size() ? record_->fields[*place] : std::string_view();
}

// A tensor has a shape, and a number of NaN, whatever its elements are.
bool MonitorReader::is_empty() const {
  return std::any_of(facts_.begin(), facts_.end(), [&](size_t place) { return at(place) == "nan"; });
}

Result<const MonitorRow*> MonitorReader::next() {
  MSDUMP_TRY(record_, records_.next());
  if (record_ == nullptr) return nullptr;
  const auto step = parse_i64(at(step_));
  if (!step || *step < 0) return records_.bad("the step is not a number");
  row_.name = at(name_);
  if (row_.name.empty()) return records_.bad("no name of a tensor");
  row_.scope = at(scope_);
  row_.step = *step;
  row_.vpp_stage = parse_i64(at(stage_)).value_or(0);
  row_.offset = record_->offset;
  if (shape_) row_.shape = listed_shape(at(shape_));
  if (dtype_) row_.dtype = dtype_from_qualified_name(at(dtype_));
  row_.values.clear();
  const bool empty = is_empty();
  for (const size_t place : places_) row_.values.push_back(empty ? std::string_view() : without_fraction(at(place)));
  return &row_;
}

}  // namespace msdump
