// The program; everything it does is in cli.h.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <unistd.h>

#include "frame/cli.h"
#include "frame/signals.h"
#include "frame/terminal.h"

namespace {

// An exception nobody caught, on whatever thread: 70 like every other bug, not the 134 of abort.
[[noreturn]] void on_terminate() {
  const std::string_view text =
      "msdump: error: internal error: terminated\n  hint: this is a bug in msdump; please report it\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(msdump::cli::ExitCode::kInternal));
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(on_terminate);
  msdump::cli::claim_standard_streams();
  msdump::cli::install_signal_handlers();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(msdump::cli::run(arguments, {}));
}
