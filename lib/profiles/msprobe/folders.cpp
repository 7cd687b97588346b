#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "io/dir_walk.h"
#include "profiles/msprobe/result.h"

namespace msdump {
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
