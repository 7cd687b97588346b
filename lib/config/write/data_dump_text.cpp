#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/write/config_objects.h"

namespace msdump {
namespace {

using report::List;
using report::Object;

constexpr Version kTextSteps{1, 3, 0}, kSavedData{1, 6, 0}, kCategories{2, 3, 0}, kWarnsWithout{2, 6, 0};
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
  if (version < kCategories && (!request.asynchronous || request.target.device != Device::kAscend))
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
  if (version >= kTextSteps && (asynchronous || version >= kCategories))
    common.add("op_debug_mode", request.overflow ? 3 : 0);
  if (version >= kSavedData) common.add("saved_data", request.statistics ? "statistic" : "tensor");
  if (version >= kSavedData && !has_section) common.add("file_format", "npy");
  if (version >= kCategories && request.statistics) {
    common.add("statistic_category",
               List{"max", "min", "avg", "l2norm", "nan count", "negative inf count", "positive inf count"});
  }
}

}  // namespace

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

}  // namespace msdump
