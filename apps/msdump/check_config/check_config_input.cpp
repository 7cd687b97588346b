#include "check_config/check_config_input.h"

#include <cerrno>
#include <span>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "config/lint.h"
#include "io/dir_walk.h"
#include "io/file.h"

namespace msdump::cli {
namespace {

Error too_large(const std::string& path, const std::string& size) {
  return make_error(ErrorCode::kTooLarge, "{}, and msdump reads configurations up to {}", size,
                    human_bytes(kMostConfigBytes))
      .with_path(path);
}

Result<std::string> read_file(const std::string& path) {
  MSDUMP_TRY(const File file, File::open(path));
  if (file.size() > kMostConfigBytes) return fail(too_large(path, human_bytes(file.size())));
  std::string text(static_cast<size_t>(file.size()), '\0');
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

// Not blocking, so that a FIFO nobody writes into can be given up. A standard input that is a socket has no name to open.
Descriptor open_stream(const std::string& path) {
  if (path == "/dev/stdin" || path == "/dev/fd/0") return Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  return Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

Result<std::string> read_stream(const std::string& path, const CancelToken& cancel) {
  const Descriptor descriptor = open_stream(path);
  if (!descriptor.valid()) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
  std::string text, block(size_t{64} << 10, '\0');
  for (;;) {
    MSDUMP_CHECK_OK(cancel.check());
    pollfd input{descriptor.get(), POLLIN, 0};
    if (::poll(&input, 1, 200) <= 0) continue;  // nothing yet, or a signal: reading now would wait for ever
    const ssize_t count = ::read(descriptor.get(), block.data(), block.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return fail(system_error(errno, "read", path, ErrorCode::kReadFailed));
    if (count == 0) return text;
    text.append(block, 0, static_cast<size_t>(count));
    if (text.size() > kMostConfigBytes) return fail(too_large(path, "a longer text"));
  }
}

}  // namespace

Result<std::string> read_config(const std::string& path, const CancelToken& cancel) {
  switch (path_kind(path)) {
    case PathKind::kOther: return read_stream(path, cancel);
    case PathKind::kDirectory:
      return fail(make_error(ErrorCode::kUsage, "is a folder, not a configuration")
                      .with_path(path)
                      .with_hint(fmt::format("name the file, such as {}{}data_dump.json", path,
                                             path.ends_with('/') ? "" : "/")));
    default: return read_file(path);
  }
}

}  // namespace msdump::cli
