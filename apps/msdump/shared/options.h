// The options that several commands have, one function per group, so that an option has the same name and meaning
// everywhere. Their variables are a plain struct that the command owns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dump/index/selection.h"
#include "frame/options.h"
#include "frame/terminal.h"
#include "io/run_context.h"
#include "report/row_sink.h"

namespace msdump::cli {

// The options of every command that works on data.
struct GeneralOptions {
  bool quiet = false;
  int verbosity = 0;
  uint32_t jobs = 0;  // 0 until given; see jobs_of
  When color = When::kAuto, progress = When::kAuto;
};
[[nodiscard]] std::vector<Option> general_options(GeneralOptions& options);
// -h and -V, which the frame recognises before the others are parsed.
[[nodiscard]] std::vector<Option> text_options();

struct DumpOptions {
  std::vector<std::string> options;      // -d, each as typed
  std::vector<std::string> positionals;  // the same without -d
};
enum class DumpPositional : uint8_t { kYes, kNo };  // kNo: arguments mean something else
// `aliases`: further names, ",--dump_file".
[[nodiscard]] std::vector<Option> dump_options(DumpOptions& options, const std::string& aliases = "",
                                               DumpPositional positional = DumpPositional::kYes);
// The resolved paths. Comma lists are split unless a file of that name exists. `-` is replaced by the list on stdin, and
// no path at all by $MSDUMP_DUMP or ".". A typed path that does not exist is kNotFound, with the nearest name as a hint.
// Paths of a list on stdin are not checked here.
[[nodiscard]] Result<std::vector<std::string>> resolve_dumps(const DumpOptions& options, const CancelToken& cancel);

// The same for commands that continue after a missing path: those that do not exist are in `missing`.
struct ResolvedPaths {
  std::vector<std::string> paths;
  std::vector<Error> missing;
};
[[nodiscard]] Result<ResolvedPaths> resolve_existing(const DumpOptions& options, const CancelToken& cancel);

// Any number of arguments that are not options. Help does not list them: `usage` names them.
[[nodiscard]] Option arguments_option(const std::string& name, std::vector<std::string>& target,
                                      const std::string& help);
// --out; with --shard the part.
[[nodiscard]] Option output_option(std::string& path, const std::string& help);
[[nodiscard]] std::vector<Option> selection_options(SelectionOptions& options);
// Only --io and --slot.
[[nodiscard]] std::vector<Option> tensor_options(SelectionOptions& options);
// A flag for each form of machine output.
[[nodiscard]] std::vector<Option> report_options(report::Form& form);
// The same flags, for an option that excludes them.
[[nodiscard]] std::vector<OptionRule> excluded_forms(std::string_view reason);

// The value of -j; else $MSDUMP_JOBS, else the CPUs of this process.
[[nodiscard]] Result<unsigned> jobs_of(uint32_t jobs);

struct EnvironmentVariable {
  std::string_view name, meaning;
  bool is_general = false;  // of every command, else of those with an option that it stands for
};
[[nodiscard]] std::span<const EnvironmentVariable> environment_variables();

}  // namespace msdump::cli
