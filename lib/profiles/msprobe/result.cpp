#include "profiles/msprobe/result.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "compare/match/msprobe/msprobe_keys.h"
#include "compare/match/msprobe/msprobe_layers.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "io/json.h"
#include "profiles/msprobe/match.h"
#include "profiles/msprobe/metrics.h"
#include "profiles/msprobe/verdict.h"

namespace msdump {
namespace {

constexpr size_t kStepsNamed = 4;

// step0, step1, ..; not step01.
Result<std::vector<std::string>> steps_in(const std::string& folder) {
  std::vector<std::string> steps;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::string_view number = name.starts_with("step") ? std::string_view(name).substr(4) : std::string_view();
    if (!is_digits(number) || (number.size() > 1 && number[0] == '0')) continue;
    if (path_kind(join_path(folder, name)) == PathKind::kDirectory) steps.push_back(name);
  }
  if (error) return fail(system_error(error.value(), "list the folder", folder, ErrorCode::kReadFailed));
  std::sort(steps.begin(), steps.end(), [](const std::string& a, const std::string& b) { return natural_less(a, b); });
  return steps;
}

std::optional<std::string> json_in(const std::string& folder) {
  for (const std::string_view name : {"dump.json", "debug.json"}) {
    std::string path = join_path(folder, name);
    if (path_kind(path) == PathKind::kFile) return path;
  }
  return std::nullopt;
}

std::string some_of(const std::vector<std::string>& steps) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(steps.size(), kStepsNamed));
  const std::vector<std::string> first(steps.begin(), steps.begin() + shown);
  return fmt::format("{}{}", fmt::join(first, ", "), steps.size() > kStepsNamed ? ", .." : "");
}

Result<std::string> step_folder(const std::string& path, std::optional<int64_t> step) {
  MSDUMP_TRY(const std::vector<std::string> steps, steps_in(path));
  if (step) {
    const std::string wanted = fmt::format("step{}", *step);
    if (std::find(steps.begin(), steps.end(), wanted) != steps.end()) return join_path(path, wanted);
    if (steps.empty() && std::filesystem::path(path).filename() == wanted) return path;
    return fail(make_error(ErrorCode::kNotFound, "no {} here{}", wanted, steps.empty() ? "" : ": " + some_of(steps))
                    .with_path(path));
  }
  if (steps.empty()) return path;
  if (steps.size() == 1) return join_path(path, steps.front());
  return fail(make_error(ErrorCode::kUsage, "{} here: {}", plural(steps.size(), "step"), some_of(steps))
                  .with_path(path)
                  .with_hint("msprobe compares one step: --step N for both sides, or --a-step N and --b-step M"));
}

}  // namespace

Result<std::string> find_msprobe_place(const std::string& path, const MsprobePlace& place) {
  const PathKind kind = path_kind(path);
  if (kind == PathKind::kMissing) return fail(make_error(ErrorCode::kNotFound, "does not exist").with_path(path));
  if (kind != PathKind::kDirectory) return path;
  if (const auto json = json_in(path)) return *json;
  MSDUMP_TRY(const std::string step, step_folder(path, place.step));
  if (!place.rank) return step;
  const std::string rank = join_path(step, fmt::format("rank{}", *place.rank));
  if (const auto json = json_in(rank)) return *json;
  return fail(
      make_error(ErrorCode::kNotFound, "no rank{} with a dump.json or debug.json here", *place.rank).with_path(step));
}

namespace {

constexpr std::string_view kPyTorch = "pytorch";

std::string folder_of(const std::string& json_path) { return json_path.substr(0, json_path.rfind('/') + 1); }

bool is_plain_file_name(std::string_view name) {
  return name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

using EntryRows = ProfileRows<MsprobeCompareCounts>;

class Comparison {
 public:
  Comparison(std::string target_json, std::string golden_json, const MsprobeCompareOptions& options)
      : target_json_(std::move(target_json)), golden_json_(std::move(golden_json)), options_(options) {}

  Status prepare() {
    MSDUMP_TRY(target_, read_items(target_json_));
    MSDUMP_TRY(golden_, read_items(golden_json_));
    MSDUMP_CHECK_OK(choose_mode());
    const std::string stack_path = folder_of(target_json_) + "stack.json";
    if (path_kind(stack_path) == PathKind::kFile) {
      MSDUMP_TRY(const File file, File::open(stack_path));
      MSDUMP_TRY(stacks_, read_stack_json(file));
    }
    MSDUMP_CHECK_OK(pair_items());
    cut_into_entries();
    return {};
  }

  Result<MsprobeCompareCounts> write(const RunContext& context, const ProfileSink& sink) const {
    MsprobeCompareCounts counts;
    for (const auto* items : {&target_, &golden_}) {
      for (const Error& problem : items->problems) counts.failures.add(problem);
    }
    MSDUMP_TRY(MsprobeCompareCounts written,
               write_rows_in_order<MsprobeCompareCounts>(
                   context, entries_.size(), msprobe_header(mode_, stacks_.has_value()),
                   [&](size_t index) { return compare_entry(index, context.cancel); }, sink));
    counts += std::move(written);
    return counts;
  }

 private:
  [[nodiscard]] Result<MsprobeItems> read_items(const std::string& json_path) const {
    MSDUMP_TRY(const File file, File::open(json_path));
    return read_msprobe_items(file, {.debug_json = json_path.ends_with("debug.json"), .fuzzy = options_.fuzzy});
  }

  Status choose_mode() {
    if (target_.framework == kPyTorch && golden_.framework != kPyTorch) {
      return refuse("msprobe does not compare a PyTorch target with a MindSpore dump");
    }
    cross_framework_ = target_.framework != kPyTorch && golden_.framework == kPyTorch;
    if (target_.task != golden_.task) {
      return refuse(fmt::format("task {} against task {}: msprobe does not compare them", target_.task, golden_.task));
    }
    if (target_.items.empty()) return refuse("nothing in the target to compare: msprobe writes no result");
    if (target_.task == "tensor") {
      mode_ = MsprobeMode::kTensor;
    } else if (target_.task != "statistics") {
      return refuse(fmt::format("msprobe does not compare dumps of task {}", target_.task));
    } else if (target_.has_checksums != golden_.has_checksums) {
      return refuse("checksums on one side only: msprobe does not compare them");
    } else {
      mode_ = target_.has_checksums ? MsprobeMode::kChecksum : MsprobeMode::kStatistics;
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view why) const {
    return fail(make_error(ErrorCode::kUsage, "{}", why).with_path(target_json_));
  }

  Result<MsprobeMappings> read_mappings() const {
    MsprobeMappings mappings;
    if (target_.framework == kPyTorch && options_.api_mapping) {
      return refuse("msprobe maps the APIs of MindSpore targets only");
    }
    if (options_.cell_mapping) {
      mappings.cell.emplace();
      if (!options_.cell_mapping->empty()) {
        MSDUMP_TRY(mappings.cell, from_file(*options_.cell_mapping, read_name_pairs));
      }
    }
    if (options_.api_mapping) {
      mappings.api.emplace();
      if (!options_.api_mapping->empty()) {
        MSDUMP_TRY(mappings.api, from_file(*options_.api_mapping, read_api_rules));
      }
    }
    if (options_.data_mapping) {
      MSDUMP_TRY(const auto pairs, from_file(*options_.data_mapping, read_name_pairs));
      mappings.data.emplace(pairs.begin(), pairs.end());
    }
    // For PyTorch targets msprobe reads no layer mapping.
    if (options_.layer_mapping && target_.framework != kPyTorch) {
      MsprobeLayerRules rules;
      if (!options_.layer_mapping->empty()) {
        MSDUMP_TRY(rules, from_file(*options_.layer_mapping, read_layer_rules));
      }
      MSDUMP_TRY(auto data, msprobe_layer_mapping({target_, target_json_}, {golden_, golden_json_}, rules));
      // msprobe treats an empty mapping as none.
      if (!data.empty()) mappings.data = std::move(data);
    }
    return mappings;
  }

  template <class T>
  static Result<T> from_file(const std::string& path, Result<T> (*read)(const JsonValue&)) {
    const auto yaml = read_yaml_file(path);
    auto value = yaml ? read(*yaml) : Result<T>(fail(yaml.error()));
    if (value) return value;
    Error error = std::move(value).error().with_path(path);
    error.code = ErrorCode::kUsage;  // whatever is wrong with the file, the option is at fault
    return fail(std::move(error));
  }

  Status pair_items() {
    MSDUMP_TRY(const MsprobeMappings mappings, read_mappings());
    auto keys = msprobe_keys(target_, golden_, mappings);
    if (!keys) {  // an API mapping that does not fit the target
      const std::string mapping = options_.api_mapping.value_or("");
      return fail(std::move(keys).error().with_path(mapping.empty() ? target_json_ : mapping));
    }
    const bool fuzzy = options_.fuzzy && !mappings.data;
    MSDUMP_TRY(const auto pairs, fuzzy ? match_fuzzily(*keys, golden_) : match_exactly(*keys, golden_));
    for (const MsprobePair& pair : pairs) {
      const bool partner = pair.golden && (mappings.data || msprobe_dtypes_match(side_of(target_, pair.target).dtype,
                                                                                 side_of(golden_, *pair.golden).dtype,
                                                                                 cross_framework_));
      pairs_.push_back({pair.target, partner ? pair.golden : std::nullopt});
    }
    return {};
  }

  [[nodiscard]] MsprobeRow::Side side_of(const MsprobeItems& items, uint32_t index) const {
    return msprobe_side(items.items[index], options_.pandas2);
  }

  [[nodiscard]] MsprobeRow::Side golden_side(const MsprobePair& pair) const {
    return pair.golden ? side_of(golden_, *pair.golden) : msprobe_no_side();
  }

  void cut_into_entries() {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const uint32_t entry = target_.items[pairs_[i].target].entry;
      if (i == 0 || target_.items[pairs_[i - 1].target].entry != entry) entries_.push_back(i);
    }
  }

  [[nodiscard]] EntryRows compare_entry(size_t index, const CancelToken& cancel) const {
    const size_t begin = entries_[index];
    const size_t end = index + 1 < entries_.size() ? entries_[index + 1] : pairs_.size();
    EntryRows result;
    std::vector<MsprobeRow> rows;
    for (size_t i = begin; i < end; ++i) rows.push_back(row_of(pairs_[i], result.counts, cancel));
    judge_msprobe_rows(rows, mode_);
    for (const MsprobeRow& row : rows) {
      result.lines += msprobe_line(row, mode_, stacks_.has_value());
      ++result.counts.rows;
      if (row.verdict == MsprobeVerdict::kPass) ++result.counts.pass;
      if (row.verdict == MsprobeVerdict::kWarning) ++result.counts.warning;
      if (row.verdict == MsprobeVerdict::kError) ++result.counts.error;
    }
    return result;
  }

  [[nodiscard]] MsprobeRow row_of(const MsprobePair& pair, MsprobeCompareCounts& counts,
                                  const CancelToken& cancel) const {
    const MsprobeItem& item = target_.items[pair.target];
    MsprobeRow row;
    row.target = side_of(target_, pair.target);
    row.golden = golden_side(pair);
    if (stacks_ && item.first_of_entry) {
      const StackJson::Op* const op = stacks_->find(target_.entries[item.entry]);
      if (op != nullptr) row.stack = msprobe_stack_text(*stacks_, *op);
    }
    if (mode_ == MsprobeMode::kTensor) {
      const MsprobeMetrics metrics = tensor_metrics(row, counts, cancel);
      row.metrics.assign(metrics.begin(), metrics.end());
    } else if (mode_ == MsprobeMode::kStatistics) {
      add_differences(row);
    }
    return row;
  }

  void add_differences(MsprobeRow& row) const {
    std::vector<PythonValue> relative;
    for (size_t i = 0; i < 4; ++i) {
      auto [difference, percent] = msprobe_difference(row.target.statistics[i], row.golden.statistics[i]);
      row.metrics.push_back(python_str(std::move(difference)));
      relative.push_back(python_str(std::move(percent)));
    }
    row.metrics.insert(row.metrics.end(), relative.begin(), relative.end());
  }

  [[nodiscard]] MsprobeMetrics tensor_metrics(const MsprobeRow& row, MsprobeCompareCounts& counts,
                                              const CancelToken& cancel) const {
    const MsprobeMetrics unsupported = same_metrics("unsupported");
    const std::string &target = row.target.data_name, &golden = row.golden.data_name;
    if (!row.has_partner() || target == "-1" || golden == "-1") return unsupported;
    for (const auto& [name, json] : {std::pair(&target, &target_json_), std::pair(&golden, &golden_json_)}) {
      if (is_plain_file_name(*name)) continue;
      counts.failures.add(make_error(ErrorCode::kUnsafeName, "data_name '{}' is not a plain file name", excerpt(*name))
                              .with_path(*json));
      return unsupported;
    }
    const auto path = [](const std::string& json, const std::string& name) {
      return folder_of(json) + "dump_tensor_data/" + name;
    };
    auto metrics = msprobe_metrics(path(target_json_, target), path(golden_json_, golden), cancel);
    if (metrics) return *metrics;
    counts.failures.add(std::move(metrics.error()));
    return unsupported;
  }

  std::string target_json_, golden_json_;
  const MsprobeCompareOptions& options_;
  MsprobeItems target_, golden_;
  std::optional<StackJson> stacks_;
  MsprobeMode mode_ = MsprobeMode::kTensor;
  bool cross_framework_ = false;
  std::vector<MsprobePair> pairs_;
  std::vector<size_t> entries_;  // where in pairs_ each begins
};

}  // namespace

MsprobeCompareCounts& MsprobeCompareCounts::operator+=(MsprobeCompareCounts&& more) {
  rows += more.rows;
  pass += more.pass;
  warning += more.warning;
  error += more.error;
  failures.add(std::move(more.failures));
  return *this;
}

Result<MsprobeCompareCounts> write_msprobe_result(const std::string& target_json, const std::string& golden_json,
                                                  const MsprobeCompareOptions& options, const RunContext& context,
                                                  const ProfileSink& sink) {
  Comparison comparison(target_json, golden_json, options);
  MSDUMP_CHECK_OK(comparison.prepare());
  return comparison.write(context, sink);
}

namespace {

// rank, rank0, rank12; not rank07.
bool is_rank(std::string_view name) {
  if (!name.starts_with("rank")) return false;
  const std::string_view number = name.substr(4);
  return number.empty() || (is_digits(number) && (number.size() == 1 || number[0] != '0'));
}

bool is_process(std::string_view name) { return name.starts_with("proc") && is_digits(name.substr(4)); }

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error) return fail(system_error(error.value(), "list the folder", folder, ErrorCode::kReadFailed));
  return names;
}

std::vector<std::string> ranks_of(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !is_rank(name); });
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) { return natural_less(a, b); });
  return names;
}

Result<std::vector<std::string>> process_of(std::vector<std::string> names, const std::string& folder) {
  std::erase_if(names, [](const std::string& name) { return !is_process(name); });
  if (names.size() == 1) return names;
  return fail(make_error(ErrorCode::kUsage, "{} where msprobe expects rank folders or one proc folder",
                         plural(names.size(), "proc folder"))
                  .with_path(folder)
                  .with_hint("name a step folder, or the two dump.json"));
}

bool is_file(const std::string& path) { return path_kind(path) == PathKind::kFile; }

std::string result_name(std::string_view json) {
  return json == "debug.json" ? "debug_compare_result" : "compare_result";
}

Result<std::vector<MsprobeJsonPair>> file_pair(const std::string& target, const std::string& golden) {
  for (const std::string_view json : {"dump.json", "debug.json"}) {
    if (target.ends_with(json) && golden.ends_with(json)) {
      return std::vector<MsprobeJsonPair>{{target, golden, result_name(json)}};
    }
  }
  return fail(make_error(ErrorCode::kUsage, "msprobe compares two dump.json or two debug.json").with_path(target));
}

}  // namespace

Result<std::vector<MsprobeJsonPair>> find_msprobe_pairs(const std::string& target, const std::string& golden) {
  const PathKind target_kind = path_kind(target), golden_kind = path_kind(golden);
  if (target_kind == PathKind::kFile && golden_kind == PathKind::kFile) return file_pair(target, golden);
  if (target_kind != PathKind::kDirectory || golden_kind != PathKind::kDirectory) {
    return fail(make_error(ErrorCode::kUsage, "msprobe compares two files or two folders").with_path(target));
  }
  MSDUMP_TRY(const auto target_names, names_in(target));
  MSDUMP_TRY(const auto golden_names, names_in(golden));
  auto target_folders = ranks_of(target_names), golden_folders = ranks_of(golden_names);
  if (target_folders.size() != golden_folders.size()) {
    return fail(make_error(ErrorCode::kUsage, "{} here, {} in {}: msprobe matches ranks by their order",
                           plural(target_folders.size(), "rank"), golden_folders.size(), golden)
                    .with_path(target));
  }
  if (target_folders.empty()) {
    MSDUMP_TRY(target_folders, process_of(target_names, target));
    MSDUMP_TRY(golden_folders, process_of(golden_names, golden));
  }
  std::vector<MsprobeJsonPair> pairs;
  const std::string first = join_path(target, target_folders[0]);
  const std::string json = is_file(join_path(first, "dump.json")) ? "dump.json" : "debug.json";
  for (size_t i = 0; i < target_folders.size(); ++i) {
    MsprobeJsonPair pair{join_path(join_path(target, target_folders[i]), json),
                         join_path(join_path(golden, golden_folders[i]), json),
                         result_name(json) + "_" + target_folders[i]};
    if (is_file(pair.target) && is_file(pair.golden)) pairs.push_back(std::move(pair));
  }
  if (pairs.empty()) {
    return fail(make_error(ErrorCode::kNotADump, "no dump.json or debug.json on both sides").with_path(target));
  }
  return pairs;
}

}  // namespace msdump
