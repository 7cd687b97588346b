// What -d and its relatives mean: resolve_dumps of options.h.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "io/dir_walk.h"
#include "shared/options.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostListBytes = size_t{1} << 30;

// Polls so that an interruption also ends a wait for a list that never comes.
Result<std::string> read_stdin(const CancelToken& cancel) {
  std::string text, block(size_t{64} << 10, '\0');
  for (;;) {
    MSDUMP_CHECK_OK(cancel.check());
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, 200) <= 0) continue;  // nothing yet, or a signal: reading now would wait for ever
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error(errno, "read the list", "standard input", ErrorCode::kReadFailed));
    if (count == 0) return text;
    text.append(block, 0, static_cast<size_t>(count));
    if (text.size() > kMostListBytes) {
      return fail(
          make_error(ErrorCode::kUsage, "the list on standard input is longer than {}", human_bytes(kMostListBytes)));
    }
  }
}

Status append_stdin_list(std::vector<std::string>& paths, const CancelToken& cancel) {
  MSDUMP_TRY(const std::string text, read_stdin(cancel));
  const char separator = text.find('\0') == std::string::npos ? '\n' : '\0';
  const size_t before = paths.size();
  for (const std::string_view path : split(text, separator)) {
    if (!path.empty()) paths.emplace_back(path);
  }
  if (paths.size() == before) return fail(ErrorCode::kUsage, "the list on standard input is empty");
  return {};
}

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

Error no_such(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  return make_error(ErrorCode::kNotFound, "no such file or directory").with_path(path).with_hint(nearest_name(trimmed));
}

Status append_path(ResolvedPaths& resolved, const std::string& path) {
  if (path.empty()) return fail(ErrorCode::kUsage, "an empty path was given as the dump");
  if (path_kind(path) == PathKind::kMissing) {
    resolved.missing.push_back(no_such(path));
  } else {
    resolved.paths.push_back(path);
  }
  return {};
}

Status append_typed(ResolvedPaths& resolved, const std::string& typed, bool& stdin_taken, const CancelToken& cancel) {
  if (typed == "-") {
    if (std::exchange(stdin_taken, true)) return fail(ErrorCode::kUsage, "'-' was given twice; there is one stdin");
    return append_stdin_list(resolved.paths, cancel);
  }
  if (typed.find(',') == std::string::npos || path_kind(typed) != PathKind::kMissing) {
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
