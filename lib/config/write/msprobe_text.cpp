#include <algorithm>

#include "base/text.h"
#include "config/write/config_objects.h"

namespace msdump {
namespace {

using report::List;
using report::Object;

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

}  // namespace

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

}  // namespace msdump
