#include "config/write_config.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "config/data_dump.h"
#include "config/lint.h"
#include "report/json.h"
#include "report/value.h"

namespace msdump {
namespace {

using report::List;
using report::Object;
using report::Value;

// Ascending numbers as single ones and ranges: {"1", "3-5"}. Repeated numbers count once.
std::vector<std::string> range_texts(std::span<const int64_t> numbers) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < numbers.size();) {
    const int64_t first = numbers[i];
    int64_t last = first;
    for (++i; i < numbers.size() && numbers[i] - last <= 1; ++i) last = numbers[i];
    texts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  }
  return texts;
}

// "1|3-5"; kUsage beyond `most` items.
Result<std::string> steps_text(std::span<const int64_t> steps, size_t most) {
  if (!steps.empty() && steps.front() < 0) return fail(ErrorCode::kUsage, "steps are not negative");
  const std::vector<std::string> texts = range_texts(steps);
  if (texts.size() > most)
    return fail(ErrorCode::kUsage, "the steps are {} ranges: {} at most can be asked for", texts.size(), most);
  return fmt::format("{}", fmt::join(texts, "|"));
}

constexpr size_t kMostAclSteps = 100;  // as the documents of AscendCL have it

Result<void> check_acl(const DumpRequest& request) {
  if (!request.scope.empty())
    return fail(ErrorCode::kUsage, "AscendCL takes a range of operators only with a model's name: name the operators");
  if (request.overflow && (!request.list.empty() || request.statistics))
    return fail(ErrorCode::kUsage, "AscendCL dumps tensors of all operators that overflow: no {} with it",
                request.statistics ? "statistics" : "list");
  if (!request.watched.empty() && (request.overflow || request.statistics || request.list.empty()))
    return fail(ErrorCode::kUsage, "AscendCL watches outputs as tensors, after the operators of a list");
  return {};
}

Result<Object> acl_object(const DumpRequest& request) {
  MSDUMP_CHECK_OK(check_acl(request));
  Object dump;
  dump.add("dump_path", request.path);
  if (!request.steps.empty()) {
    MSDUMP_TRY(std::string steps, steps_text(request.steps, kMostAclSteps));
    dump.add("dump_step", std::move(steps));
  }
  if (request.overflow) {
    dump.add("dump_debug", "on");
    return Object().add("dump", std::move(dump));
  }
  List models;
  if (!request.list.empty()) {
    Object model;
    model.add("layer", report::list_of(request.list));
    if (!request.watched.empty()) model.add("watcher_nodes", report::list_of(request.watched));
    models.emplace_back(std::move(model));
  }
  if (request.watched.empty()) {
    // Operators outside of models have no layers: a list would not narrow them.
    dump.add("dump_mode", "all").add("dump_op_switch", request.list.empty() ? "on" : "off");
    dump.add("dump_data", request.statistics ? "stats" : "tensor");
    if (request.statistics)
      dump.add("dump_stats", List{"Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf", "L2norm"});
  } else {
    dump.add("dump_scene", "watcher").add("dump_mode", "output");
  }
  dump.add("dump_list", std::move(models));
  return Object().add("dump", std::move(dump));
}

constexpr Version kTextSteps{1, 3, 0}, kSavedData{1, 6, 0}, kChoosesStatistics{2, 3, 0}, kWarnsWithout{2, 6, 0};
constexpr size_t kMostStepItems = 1000;  // MindSpore splits the text again for every operator

Result<void> check_data_dump(const DumpRequest& request, const Version& version) {
  const std::string release = short_text(version);
  if (!request.scope.empty() || !request.watched.empty())
    return fail(ErrorCode::kUsage, "MindSpore's data_dump.json has no {}: name the operators",
                request.scope.empty() ? "watched operators" : "scope");
  if (request.statistics && version < kSavedData)
    return fail(ErrorCode::kUsage, "MindSpore {} saves no statistics: 1.6 is the first that does", release);
  if (!request.overflow) return {};
  if (!request.list.empty())
    return fail(ErrorCode::kUsage, "MindSpore dumps operators that overflow or those of a list, not both");
  if (version < kChoosesStatistics && (!request.asynchronous || request.target.device != Device::kAscend))
    return fail(ErrorCode::kUsage, "MindSpore {} finds overflow in asynchronous dumps on Ascend only", release);
  return {};
}

// MindSpore compares names with the JSON text of an item, less its quotes and blanks, so escapes and blanks never match.
bool can_match(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '"' && c != '\\' && c != '\x7f';
  });
}

Result<List> kernels_of(const DumpRequest& request) {
  List kernels;
  std::set<std::string_view> seen;
  for (const std::string& name : request.list) {
    if (!can_match(name))
      return fail(ErrorCode::kUsage, "MindSpore cannot choose '{}': a blank, quote or backslash never matches",
                  excerpt(name));
    if (seen.insert(name).second) kernels.emplace_back(name);
  }
  return kernels;
}

// Up to 1.2 steps count from 1, and 0 is all of them.
Result<report::Value> iteration_of(const DumpRequest& request, const Version& version) {
  if (version >= kTextSteps) {
    if (request.steps.empty()) return report::Value("all");
    MSDUMP_TRY(std::string text, steps_text(request.steps, kMostStepItems));
    return report::Value(std::move(text));
  }
  if (request.steps.empty()) return report::Value(0);
  if (request.steps.size() > 1 || request.steps.front() < 1)
    return fail(ErrorCode::kUsage, "MindSpore {} dumps all steps or a single one, from 1 on", short_text(version));
  return report::Value(request.steps.front());
}

// The ids that the ranks have on hosts of 8 and of 16 devices.
List devices_of(const DumpRequest& request) {
  std::set<int64_t> devices;
  for (const int64_t rank : request.ranks) devices.insert({rank % 8, rank % 16});
  for (int64_t device = 0; request.ranks.empty() && device < 16; ++device) devices.insert(device);
  return report::list_of(devices);
}

void add_settings(Object& common, const DumpRequest& request, const Version& version, bool asynchronous,
                  bool has_section) {
  if (version >= kTextSteps && (asynchronous || version >= kChoosesStatistics))
    common.add("op_debug_mode", request.overflow ? 3 : 0);
  if (version >= kSavedData) common.add("saved_data", request.statistics ? "statistic" : "tensor");
  if (version >= kSavedData && !has_section) common.add("file_format", "npy");
  if (version >= kChoosesStatistics && request.statistics) {
    common.add("statistic_category",
               List{"max", "min", "avg", "l2norm", "nan count", "negative inf count", "positive inf count"});
  }
}

Result<Object> data_dump_object(const DumpRequest& request) {
  const Version version = *request.target.version;
  MSDUMP_CHECK_OK(check_data_dump(request, version));
  MSDUMP_TRY(List kernels, kernels_of(request));
  MSDUMP_TRY(report::Value iteration, iteration_of(request, version));
  if (std::any_of(request.ranks.begin(), request.ranks.end(), [](int64_t rank) { return rank < 0; }))
    return fail(ErrorCode::kUsage, "ranks are not negative");
  const bool asynchronous = request.asynchronous && request.target.device == Device::kAscend;
  // 2.4 and 2.5 take the section, whatever it says, for a dump operator by operator; from 2.6 on all dumps are such.
  const bool has_section = !asynchronous || version < kTextSteps || version >= kWarnsWithout;
  Object common;
  common.add("dump_mode", request.list.empty() ? 0 : 1)
      .add("path", request.path)
      .add("net_name", request.net_name)
      .add("iteration", std::move(iteration))
      .add("input_output", 0)
      .add("kernels", std::move(kernels))
      .add("support_device", devices_of(request));
  add_settings(common, request, version, asynchronous, has_section);
  Object root;
  root.add("common_dump_settings", std::move(common));
  if (has_section) root.add("e2e_dump_settings", Object().add("enable", !asynchronous).add("trans_flag", true));
  if (asynchronous && version < kTextSteps) {
    root.add("async_dump_settings", Object().add("enable", true).add("op_debug_mode", request.overflow ? 3 : 0));
  }
  return root;
}

bool is_module(std::string_view name) { return name.starts_with("Module.") || name.starts_with("Cell."); }

std::string level_of(const DumpRequest& request) {
  if (!request.level.empty()) return request.level;
  const auto names_module = [](const auto& names) { return std::any_of(names.begin(), names.end(), is_module); };
  return names_module(request.list) || names_module(request.scope) ? "mix" : "L1";
}

Result<void> check_msprobe(const DumpRequest& request, std::string_view level) {
  if (request.overflow)
    return fail(ErrorCode::kUsage, "msprobe has no task for overflow: ask for statistics, which count it");
  if (!request.watched.empty()) return fail(ErrorCode::kUsage, "msprobe has no watched operators");
  if (!request.scope.empty() && !request.list.empty())
    return fail(ErrorCode::kUsage, "msprobe takes a list or a scope, not both");
  if (level == "debug") return fail(ErrorCode::kUsage, "level debug dumps what the script saves, not calls");
  if (level == "L2" && request.target.framework != Framework::kPyTorch && !request.path.starts_with('/'))
    return fail(ErrorCode::kUsage, "level L2 of MindSpore needs an absolute path, not '{}'", excerpt(request.path));
  return {};
}

List numbers_of(std::span<const int64_t> numbers) {
  List list;
  for (const std::string& text : range_texts(numbers)) {
    if (const auto number = parse_i64(text)) {
      list.emplace_back(*number);
    } else {
      list.emplace_back(text);
    }
  }
  return list;
}

Result<Object> msprobe_object(const DumpRequest& request) {
  const std::string level = level_of(request);
  MSDUMP_CHECK_OK(check_msprobe(request, level));
  const std::string_view task = request.statistics ? "statistics" : "tensor";
  Object block;
  block.add("scope", report::list_of(request.scope))
      .add("list", report::list_of(request.list))
      .add("data_mode", List{"all"});
  if (request.statistics && level == "L2") {
    block.add("summary_mode",
              List{"max", "min", "mean", "l2norm", "nan count", "negative inf count", "positive inf count"});
  } else if (request.statistics) {
    block.add("summary_mode", "statistics");
  }
  Object root;
  root.add("task", task)
      .add("dump_path", request.path)
      .add("rank", numbers_of(request.ranks))
      .add("step", numbers_of(request.steps))
      .add("level", level);
  const bool hooks_calls = level == "L1" || level == "mix";
  if (request.all_risks && hooks_calls && request.target.framework == Framework::kPyTorch)
    root.add("risk_level", "ALL");
  root.add(task, std::move(block));
  return root;
}

// Numbers stay on a line; names have a line each. The depth is that of the objects made here.
void append_indented(std::string& into, const Value& value, const std::string& indent) {
  const std::string inner = indent + "  ";
  const auto* const object = value.get<Object>();
  const auto* const list = value.get<List>();
  if (object != nullptr) {
    into += '{';
    for (const report::Member& member : object->members()) {
      into += (&member == &object->members().front() ? "\n" : ",\n") + inner;
      report::append_json_string(into, member.key);
      into += ": ";
      append_indented(into, member.value, inner);
    }
    into += "\n" + indent + "}";
  } else if (list != nullptr && !list->empty() && !list->front().is_number()) {
    into += '[';
    for (const Value& item : *list) {
      into += (&item == &list->front() ? "\n" : ",\n") + inner;
      append_indented(into, item, inner);
    }
    into += "\n" + indent + "]";
  } else {
    report::append_json(into, value);
  }
}

Result<Object> object_of(const DumpRequest& request) {
  switch (request.kind) {
    case ConfigKind::kDataDump: return data_dump_object(request);
    case ConfigKind::kMsprobe: return msprobe_object(request);
    case ConfigKind::kAcl: return acl_object(request);
    case ConfigKind::kUnknown: break;
  }
  return fail(ErrorCode::kUsage, "no configuration of this kind can be written");
}

Result<void> check_names(const DumpRequest& request) {
  for (const auto* const names : {&request.list, &request.scope, &request.watched}) {
    for (const std::string& name : *names) {
      if (name.empty() || !is_utf8(name))
        return fail(ErrorCode::kUsage, "'{}' cannot be named in a configuration", excerpt(name));
    }
  }
  if (!is_utf8(request.path)) return fail(ErrorCode::kUsage, "the path '{}' is not UTF-8", excerpt(request.path));
  return {};
}

}  // namespace

std::string accepted_path(ConfigKind kind, std::string path) {
  if (kind == ConfigKind::kDataDump) std::replace_if(path.begin(), path.end(), std::not_fn(is_path_char), '_');
  return path;
}

Result<std::string> write_config(const DumpRequest& asked) {
  DumpRequest request = asked;
  if (!request.target.version) request.target.version = known_releases().back();
  if (!request.target.device) request.target.device = Device::kAscend;
  MSDUMP_CHECK_OK(check_names(request));
  MSDUMP_TRY(Object object, object_of(request));
  std::string text;
  append_indented(text, object, "");
  text += '\n';
  if (text.size() > kMostConfigBytes)
    return fail(ErrorCode::kUsage, "the configuration would have {}: name fewer operators", human_bytes(text.size()));
  const LintReport report = lint_config(text, request.target);
  if (!report.findings.empty()) return fail(ErrorCode::kUsage, "{}", report.findings.front().message);
  return text;
}

}  // namespace msdump
