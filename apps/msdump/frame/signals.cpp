#include "frame/signals.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

namespace msdump::cli {
namespace {

constinit CancelToken token;
constinit std::atomic<int> received = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int number) {
  if (received.exchange(number) != 0) _exit(128 + number);
  token.cancel();
}

void install(int number) {
  struct sigaction action = {};
  if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = on_signal;
  // No SA_RESTART: a call that waits for a FIFO or a reader returns, and its caller checks the token.
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

CancelToken& process_cancel_token() { return token; }

void install_signal_handlers() {
  install(SIGINT);
  install(SIGTERM);
}

std::optional<ExitCode> signal_exit_code() {
  switch (received.load()) {
    case SIGINT: return ExitCode::kInterrupted;
    case SIGTERM: return ExitCode::kTerminated;
    default: return std::nullopt;
  }
}

}  // namespace msdump::cli
