#include "shared/path_list.h"

#include <algorithm>

#include <unistd.h>

#include "base/text.h"
#include "shared/read_stream.h"

namespace msdump::cli {

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

}  // namespace msdump::cli
