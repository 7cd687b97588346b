// Timing commands as whole processes, in turn with what they are compared with, so that a noisy machine disturbs both.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

struct Options {
  int runs = 5;
  int scale = 100;  // percent of the sizes said
  bool keep = false;
  std::string only;  // one part of the program; empty: all
  std::string msdump = MSDUMP_BINARY;

  [[nodiscard]] bool wants(const std::string& part) const { return only.empty() || only == part; }
  [[nodiscard]] int scaled(int count) const {
    return static_cast<int>(std::max(int64_t{1}, int64_t{count} * scale / 100));
  }
};

inline Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--keep") options.keep = true;
    if (word == "--runs" && has_value) options.runs = std::atoi(argv[++i]);
    if (word == "--scale" && has_value) options.scale = std::atoi(argv[++i]);
    if (word == "--only" && has_value) options.only = argv[++i];
    if (word == "--msdump" && has_value) options.msdump = argv[++i];
  }
  return options;
}

struct RunResult {
  double seconds = 0;
  long max_rss_kib = 0;
  double cpu_seconds = 0;
};

// Its stdout goes to /dev/null. Ends the program when the command fails: a number of a failure means nothing.
inline RunResult run(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // What the run before left to be written to the disk is not this run's work.
  ::sync();
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    if (null >= 0) ::dup2(null, 1);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fmt::print(stderr, "bench: '{}' failed\n", fmt::join(command, " "));
    std::exit(1);
  }
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {elapsed.count(), usage.ru_maxrss, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Comparison {
  std::string name;
  std::string other;  // what it is compared with
  std::vector<std::string> ours, theirs;
  std::function<void()> before = [] {};  // each single run
};

// One line: medians, and the range of the ratios.
inline void compare(const Comparison& comparison, const Options& options) {
  std::vector<double> ours, theirs, ratios;
  long rss = 0;
  for (int i = 0; i <= options.runs; ++i) {
    comparison.before();
    const RunResult mine = run(comparison.ours);
    comparison.before();
    const RunResult other = run(comparison.theirs);
    if (i == 0) continue;  // warm-up
    ours.push_back(mine.seconds);
    theirs.push_back(other.seconds);
    ratios.push_back(mine.seconds / other.seconds);
    rss = std::max(rss, mine.max_rss_kib);
  }
  comparison.before();
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  fmt::print("{:26} msdump {:7.3f} s   {:6} {:7.3f} s   ratio {:.2f} ({:.2f} to {:.2f})   peak resident {:.1f} MiB\n",
             comparison.name, median(ours), comparison.other, median(theirs), median(ratios), *low, *high,
             static_cast<double>(rss) / 1024);
  std::fflush(stdout);
}

// A folder of its own under $TMPDIR, removed at the end.
class Scratch {
 public:
  explicit Scratch(const Options& options) : keep_(options.keep) {
    std::string name = (std::filesystem::temp_directory_path() / "msdump-bench.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::exit(1);
    path_ = name;
    fmt::print("whole processes, {} runs after one warm-up, in turn; medians, and the range of the ratios\n",
               options.runs);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!keep_) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool keep_;
};

}  // namespace bench
