#include "shared/read_stream.h"

#include <cerrno>

#include <poll.h>
#include <unistd.h>

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

}  // namespace msdump::cli
