#include "profiles/msprobe/place.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "io/dir_walk.h"

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

}  // namespace msdump
