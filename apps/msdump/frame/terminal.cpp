#include "frame/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>

#include "base/text.h"

namespace msdump::cli {
namespace {

constexpr size_t kBufferSize = size_t{64} << 10;
constexpr std::string_view kEraseLine = "\r\x1b[K";

bool set_and_not_empty(const char* name) { return !environment(name).value_or("").empty(); }

size_t width_of(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;  // such a width is a mistake
  return size.ws_col;
}

// Waits until the stream takes bytes. A reader that has stopped reading must not keep an interrupted run alive.
bool is_writable(int fd, const CancelToken* cancel) {
  constexpr int kPeriod = 100;  // milliseconds
  for (;;) {
    pollfd output{fd, POLLOUT, 0};
    const int ready = poll(&output, 1, kPeriod);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (cancel != nullptr && cancel->cancelled()) return false;
  }
}

// True if somebody reads the stream: a pipe, a socket, a terminal. A file and /dev/null never wait.
bool has_reader(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) != 0 || !(S_ISREG(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(fd) == 0));
}

// errno of the write that failed, 0 on success. A pipe that poll calls writable takes PIPE_BUF bytes without blocking.
int write_all(int fd, std::string_view text, const CancelToken* cancel) {
  const bool waits = has_reader(fd);
  while (!text.empty()) {
    if (waits && !is_writable(fd, cancel)) return ECANCELED;
    const ssize_t written = ::write(fd, text.data(), waits ? std::min<size_t>(text.size(), PIPE_BUF) : text.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);  // read at start-up only, before there are threads
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

TerminalFacts terminal_facts(int out_fd, int err_fd) {
  TerminalFacts facts;
  facts.out_tty = isatty(out_fd) == 1;
  facts.err_tty = isatty(err_fd) == 1;
  facts.out_width = width_of(out_fd);
  facts.err_width = width_of(err_fd);
  const std::string term = environment("TERM").value_or("");
  facts.dumb = term.empty() || term == "dumb";
  facts.no_color = set_and_not_empty("NO_COLOR");
  facts.ci = set_and_not_empty("CI");
  return facts;
}

bool use_color(When when, bool tty, const TerminalFacts& facts) {
  if (when != When::kAuto) return when == When::kAlways;
  return tty && !facts.dumb && !facts.no_color;
}

bool use_progress(When when, bool quiet, const TerminalFacts& facts) {
  if (when != When::kAuto) return when == When::kAlways;
  return facts.err_tty && !facts.dumb && !facts.ci && !quiet;
}

void claim_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free descriptor is `fd` itself. Read-only, so that writing results to it fails.
    if (::open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0) std::_Exit(2);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // beyond `ulimit -f` a write fails as on a full disk
}

void raise_open_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

Output::~Output() { (void)flush(); }

Status Output::write(std::string_view text) {
  if (error_) return fail(*error_);
  buffer_.append(text);
  used_ = used_ || !text.empty();
  // On a terminal each row appears at once.
  return tty_ || buffer_.size() >= kBufferSize ? flush() : Status();
}

Status Output::flush() {
  if (error_) return fail(*error_);
  if (buffer_.empty()) return {};
  if (before_write_) before_write_();
  const int failed = write_all(fd_, buffer_, cancel_);
  buffer_.clear();
  return failed == 0 ? Status() : note_error(failed);
}

Status Output::note_error(int errno_value) {
  if (errno_value == ECANCELED) {
    error_ = make_error(ErrorCode::kCancelled, "interrupted while the results were written");
  } else if (errno_value == EPIPE) {
    reader_gone_ = true;
    error_ = make_error(ErrorCode::kCancelled, "the reader of the results has gone");
    if (when_reader_gone_) when_reader_gone_();
  } else {
    error_ = system_error(errno_value, "write the results", "standard output", ErrorCode::kWriteFailed);
  }
  return fail(*error_);
}

void Console::line(std::string_view text) {
  std::string bytes;
  const std::lock_guard lock(mutex_);
  if (status_shown_) bytes = kEraseLine;
  status_shown_ = false;
  bytes.append(text);
  bytes += '\n';
  // A single write, of up to PIPE_BUF bytes to a pipe: the lines of processes that share a log stay whole.
  (void)write_all(fd_, bytes, cancel_);
}

void Console::status(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (text.empty() && !status_shown_) return;
  (void)write_all(fd_, std::string(kEraseLine).append(text), cancel_);
  status_shown_ = !text.empty();
}

std::string lines_for_terminal(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text += escape_for_terminal(line);
    if (end == std::string_view::npos) break;
    text += '\n';
    lines.remove_prefix(end + 1);
  }
  return text;
}

std::string shell_quoted(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,";
  if (!path.empty() && path.find_first_not_of(kPlain) == std::string_view::npos) return std::string(path);
  const auto replaced = [&](std::string_view quote, std::string_view backslash) {
    std::string text;
    for (const char c : path) text += c == '\'' ? quote : c == '\\' ? backslash : std::string_view(&c, 1);
    return text;
  };
  // Writes control characters as $'...' does.
  if (escape_for_terminal(path) != path) return "$'" + escape_for_terminal(replaced("\\'", "\\\\")) + "'";
  return "'" + replaced("'\\''", "\\") + "'";
}

std::string shell_line(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

}  // namespace msdump::cli
