#include "shared/dump_paths.h"

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/dir_walk.h"
#include "shared/options.h"

namespace msdump::cli {

Result<std::string> read_stream(int descriptor, const std::string& path, size_t most, const CancelToken& cancel) {
  constexpr int kPeriod = 200;  // milliseconds
  std::string text, block(size_t{64} << 10, '\0');
  for (;;) {
    MSDUMP_CHECK_OK(cancel.check());
    pollfd input{descriptor, POLLIN, 0};
    if (::poll(&input, 1, kPeriod) <= 0) continue;  // nothing yet, or a signal: a read would wait
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return fail(system_error(errno, "read", path, ErrorCode::kReadFailed));
    if (count == 0) return text;
    text.append(block, 0, static_cast<size_t>(count));
    if (text.size() > most) return fail(make_error(ErrorCode::kTooLarge, "a longer text").with_path(path));
  }
}

Result<std::vector<std::string>> paths_of_list(std::string_view text) {
  const char separator = text.find('\0') == std::string_view::npos ? '\n' : '\0';
  std::vector<std::string> paths;
  // Not split(): for a list of nothing but separators it would make a view of each empty entry.
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) paths.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
    if (paths.size() > kMostListEntries)
      return fail(ErrorCode::kUsage, "the list on standard input has more than {} entries", kMostListEntries);
  }
  return paths;
}

Result<std::vector<std::string>> read_path_list(const CancelToken& cancel) {
  auto text = read_stream(STDIN_FILENO, "standard input", kMostListBytes, cancel);
  if (!text && text.error().code == ErrorCode::kTooLarge)
    return fail(ErrorCode::kUsage, "the list on standard input is longer than {}", human_bytes(kMostListBytes));
  if (!text) return fail(std::move(text).error());
  MSDUMP_TRY(std::vector<std::string> paths, paths_of_list(*text));
  if (paths.empty()) return fail(ErrorCode::kUsage, "the list on standard input is empty");
  return paths;
}

// The meaning of -d and its relatives: resolve_dumps of options.h.

namespace {

std::string nearest_name(const std::filesystem::path& missing) {
  const std::filesystem::path parent = missing.has_parent_path() ? missing.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());  // ties must not depend on the file system's order
  const std::optional<std::string> near = closest_match(missing.filename().string(), names);
  return near ? fmt::format("did you mean '{}'?", (missing.parent_path() / *near).string()) : "";
}

}  // namespace

Error missing_path(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  return make_error(ErrorCode::kNotFound, "no such file or directory").with_path(path).with_hint(nearest_name(trimmed));
}

namespace {

Status append_path(ResolvedPaths& resolved, const std::string& path) {
  if (path.empty()) return fail(ErrorCode::kUsage, "an empty path was given as the dump");
  if (is_missing(path)) {
    resolved.missing.push_back(missing_path(path));
  } else {
    resolved.paths.push_back(path);
  }
  return {};
}

Status append_typed(ResolvedPaths& resolved, const std::string& typed, bool& stdin_taken, const CancelToken& cancel) {
  if (typed == "-") {
    if (std::exchange(stdin_taken, true)) return fail(ErrorCode::kUsage, "'-' was given twice; there is one stdin");
    MSDUMP_TRY(std::vector<std::string> list, read_path_list(cancel));
    std::move(list.begin(), list.end(), std::back_inserter(resolved.paths));
    return {};
  }
  if (typed.find(',') == std::string::npos || !is_missing(typed)) {
    return append_path(resolved, typed);
  }
  for (const std::string_view part : split(typed, ',')) MSDUMP_CHECK_OK(append_path(resolved, std::string(part)));
  return {};
}

}  // namespace

Result<ResolvedPaths> resolve_existing(const DumpOptions& options, const CancelToken& cancel) {
  std::vector<std::string> typed = options.options;
  typed.insert(typed.end(), options.positionals.begin(), options.positionals.end());
  ResolvedPaths resolved;
  bool stdin_taken = false;
  for (const std::string& one : typed) MSDUMP_CHECK_OK(append_typed(resolved, one, stdin_taken, cancel));
  if (!typed.empty()) return resolved;
  const std::string variable = environment("MSDUMP_DUMP").value_or("");
  const Status status = append_typed(resolved, variable.empty() ? "." : variable, stdin_taken, cancel);
  for (Error& error : resolved.missing) error.message += " ($MSDUMP_DUMP)";
  if (status) return resolved;
  Error error = status.error();
  error.message += " ($MSDUMP_DUMP)";
  return fail(std::move(error));
}

Result<std::vector<std::string>> resolve_dumps(const DumpOptions& options, const CancelToken& cancel) {
  MSDUMP_TRY(ResolvedPaths resolved, resolve_existing(options, cancel));
  if (!resolved.missing.empty()) return fail(std::move(resolved.missing.front()));
  return std::move(resolved.paths);
}

}  // namespace msdump::cli
