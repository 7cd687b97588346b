// Text of --version: what a bug report needs.
#include <fmt/format.h>
#include <spdlog/version.h>

#include "frame/cli.h"
#include "frame/command_line.h"
#include "kernels/cpu.h"
#include "report/row_sink.h"
#include "version_info.h"

namespace msdump::cli {
namespace {

#if defined(__clang__)
constexpr std::string_view kCompiler = "clang " __clang_version__;
#elif defined(__GNUC__)
constexpr std::string_view kCompiler = "gcc " __VERSION__;
#else
constexpr std::string_view kCompiler = "unknown compiler";
#endif

std::string available_targets() {
  std::string text;
  for (const std::string& name : kernels::available_cpu_targets()) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::string_view version_number() { return kVersion; }

std::string version_text() {
  return fmt::format(
      "msdump {} (git {})\n"
      "compiler:   {}, {}\n"
      "target:     Linux {}, {}\n"
      "cpu target: {} (available: {})\n"
      "libraries:  {}, fmt {}.{}.{}, spdlog {}.{}.{}, {}\n"
      "schema:     {}\n",
      kVersion, kGitHash, kCompiler, kBuildType, kProcessor, kLinked, kernels::cpu_target(), available_targets(),
      parser_version(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100, SPDLOG_VER_MAJOR,
      SPDLOG_VER_MINOR, SPDLOG_VER_PATCH, kLibraries, report::kSchema);
}

}  // namespace msdump::cli
