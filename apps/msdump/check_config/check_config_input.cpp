#include "check_config/check_config_input.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "config/lint.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "shared/dump_paths.h"

namespace msdump::cli {
namespace {

Error too_large(const std::string& path, const std::string& size) {
  return make_error(ErrorCode::kTooLarge, "{}; msdump reads configurations up to {}", size,
                    human_bytes(kMostConfigBytes))
      .with_path(path);
}

Result<std::string> read_file(const std::string& path) {
  MSDUMP_TRY(const File file, File::open(path));
  if (file.size() > kMostConfigBytes) return fail(too_large(path, human_bytes(file.size())));
  return read_text(file, kMostConfigBytes, "a configuration");
}

// Non-blocking: a FIFO may never have a writer. A standard input that is a socket cannot be opened by name.
Descriptor open_stream(const std::string& path) {
  if (path == "/dev/stdin" || path == "/dev/fd/0") return Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  return Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

Result<std::string> read_from_stream(const std::string& path, const CancelToken& cancel) {
  const Descriptor descriptor = open_stream(path);
  if (!descriptor.valid()) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
  auto text = read_stream(descriptor.get(), path, kMostConfigBytes, cancel);
  if (!text && text.error().code == ErrorCode::kTooLarge) return fail(too_large(path, "a longer text"));
  return text;
}

}  // namespace

Result<std::string> read_config(const std::string& path, const CancelToken& cancel) {
  switch (path_kind(path)) {
    case PathKind::kOther: return read_from_stream(path, cancel);
    case PathKind::kDirectory:
      return fail(make_error(ErrorCode::kUsage, "is a folder, not a configuration")
                      .with_path(path)
                      .with_hint(fmt::format("name the file, such as {}{}data_dump.json", path,
                                             path.ends_with('/') ? "" : "/")));
    default: return read_file(path);
  }
}

}  // namespace msdump::cli
