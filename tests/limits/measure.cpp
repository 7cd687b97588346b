#include "limits/measure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/sanitized.h"
#include "support/scratch_dir.h"

namespace msdump::limits {

namespace fs = std::filesystem;

namespace {

constexpr double kMaxRatio = 3;          // of the time for 2N to that for N; what is quadratic has 4
constexpr double kShort = 0.2;           // seconds for 2N; below, start-up and noise decide
constexpr int kAttempts = 12;            // the best of each counts: a busy machine is slow for seconds at a time
constexpr int64_t kSanitizedShare = 64;  // of the units
constexpr rlim_t kCpuSeconds = 20;       // what takes longer is ended: no test may hang
constexpr rlim_t kAddressSpace = rlim_t{6} << 30;

struct Cost {
  double user_seconds = 0;
  int64_t peak_bytes = 0;
  int exit_code = 0;  // -N: ended by signal N
};

fs::path program() {
  if (const char* given = std::getenv("MSDUMP")) return given;
  return fs::read_symlink("/proc/self/exe").parent_path() / "../../apps/msdump/msdump";
}

std::string placed(const std::string& word, const fs::path& folder) {
  return word.starts_with('@') ? folder.string() + word.substr(1) : word;
}

void redirect(int to, const char* path, int flags) {
  const int file = ::open(path, flags);
  if (file < 0 || ::dup2(file, to) < 0) _exit(126);
  ::close(file);
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

Cost run(const Command& command, const fs::path& folder) {
  const std::string name = program().string();
  std::vector<std::string> words = {name};
  for (const std::string& word : command.words) words.push_back(placed(word, folder));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string input = command.standard_input.empty() ? "/dev/null" : placed(command.standard_input, folder);
  const std::string errors = (folder / "stderr").string();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    redirect(0, input.c_str(), O_RDONLY);
    redirect(1, "/dev/null", O_WRONLY);
    if (std::getenv("MSDUMP_LIMITS_STDERR") == nullptr) redirect(2, "/dev/null", O_WRONLY);
    const rlimit seconds{kCpuSeconds, kCpuSeconds + 5}, space{kAddressSpace, kAddressSpace};
    ::setrlimit(RLIMIT_CPU, &seconds);
    if (!test::kIsSanitized) ::setrlimit(RLIMIT_AS, &space);
    ::execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  ::wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  // Not the system's: what creating a file costs depends on the folder and on what else the file system does.
  return {seconds(usage.ru_utime), int64_t{usage.ru_maxrss} * 1024, exit_code_of(status)};
}

// In a child, since the peak of a process counts from the size of the one that started it.
void build_apart(const Build& build, const fs::path& folder, int64_t units) {
  fs::create_directories(folder);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    try {
      build(folder, units);
    } catch (const std::exception& error) {
      fmt::print(stderr, "cannot make the input: {}\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (exit_code_of(status) != 0) throw std::runtime_error("cannot make the input in " + folder.string());
}

double mib(double bytes) { return bytes / (1 << 20); }

double limit_of(const Bound& bound, int64_t units) {
  return static_cast<double>(bound.base) * (1 << 20) + bound.per_unit * static_cast<double>(units);
}

bool is_linear(const Cost& small, const Cost& large) {
  return large.user_seconds < kShort || large.user_seconds < kMaxRatio * small.user_seconds;
}

void check_command(std::string_view input, const Command& command, int64_t units, const fs::path& small_folder,
                   const fs::path& large_folder) {
  Cost small = run(command, small_folder);
  Cost large = small.exit_code < 0 ? small : run(command, large_folder);
  const auto has_ended = [&] { return small.exit_code >= 0 && large.exit_code >= 0; };
  for (int i = 1; i < kAttempts && command.is_linear && has_ended() && !is_linear(small, large); ++i) {
    small.user_seconds = std::min(small.user_seconds, run(command, small_folder).user_seconds);
    large.user_seconds = std::min(large.user_seconds, run(command, large_folder).user_seconds);
  }
  const auto peak_limit = limit_of(command.bound, 2 * units);
  const std::string measured = fmt::format(
      "{:44} {:40} {:9} {:9} units: {:6.2f} {:6.2f} s ratio {:5.2f}; peak {:6.1f} {:6.1f} of at most {:.0f} MiB; exit "
      "{}",
      input, fmt::format("{}", fmt::join(command.words, " ")), units, 2 * units, small.user_seconds, large.user_seconds,
      large.user_seconds / small.user_seconds, mib(static_cast<double>(small.peak_bytes)),
      mib(static_cast<double>(large.peak_bytes)), mib(peak_limit), large.exit_code);
  fmt::print("{}\n", measured);
  std::fflush(stdout);
  INFO(measured);
  CHECK(small.exit_code == command.exit_code);
  CHECK(large.exit_code == command.exit_code);
  CHECK(static_cast<double>(small.peak_bytes) <= limit_of(command.bound, units));
  CHECK(static_cast<double>(large.peak_bytes) <= peak_limit);
  if (command.is_linear) CHECK(is_linear(small, large));
}

}  // namespace

void check_growth(std::string_view input, int64_t units, const Build& build, const std::vector<Command>& commands) {
  const test::ScratchDir scratch;
  if (test::kIsSanitized) {
    const int64_t few = std::max<int64_t>(1, units / kSanitizedShare);
    fmt::print("{}: with a sanitizer neither memory nor time is checked, and {} units stand for {}\n", input, few,
               units);
    build_apart(build, scratch.path() / "n", few);
    for (const Command& command : commands) {
      INFO(input << ": " << fmt::format("{}", fmt::join(command.words, " ")));
      // So few units need not reach a limit: any code that msdump promises, but no crash and no report of a sanitizer.
      const int exit_code = run(command, scratch.path() / "n").exit_code;
      CHECK(exit_code >= 0);
      CHECK(exit_code <= 3);
    }
    return;
  }
  build_apart(build, scratch.path() / "n", units);
  build_apart(build, scratch.path() / "2n", 2 * units);
  for (const Command& command : commands) {
    check_command(input, command, units, scratch.path() / "n", scratch.path() / "2n");
  }
}

}  // namespace msdump::limits
