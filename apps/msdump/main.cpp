// The entry point; see frame/cli.h.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "frame/cli.h"
#include "frame/signals.h"
#include "frame/terminal.h"

namespace {

// An uncaught exception of any thread ends with exit code 70, not with the 134 of abort.
[[noreturn]] void on_terminate() {
  std::string_view text =
      "msdump: error: internal error: terminated\n  hint: this is a bug in msdump; please report it\n";
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    text = "msdump: error: out of memory\n";
  } catch (...) {  // the text says it
  }
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  _exit(static_cast<int>(msdump::cli::ExitCode::kInternal));
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(on_terminate);
  msdump::cli::claim_standard_streams();
  msdump::cli::raise_open_file_limit();
  msdump::cli::install_signal_handlers();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(msdump::cli::run(arguments, {}));
}
