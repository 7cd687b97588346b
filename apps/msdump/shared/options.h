// The options that several commands share, one function per group, so that an option has the same name and meaning
// everywhere. Each function binds to a plain struct that the command owns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/index/selection.h"
#include "frame/terminal.h"
#include "io/run_context.h"
#include "report/row_sink.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace msdump::cli {

// Headings of --help.
inline constexpr const char* kInputGroup = "Input";
inline constexpr const char* kSelectionGroup = "Selection";
inline constexpr const char* kOutputGroup = "Output";
inline constexpr const char* kGeneralGroup = "General";

// On every command; the frame declares them.
struct GeneralOptions {
  bool quiet = false;
  int verbosity = 0;
  uint32_t jobs = 0;  // 0 until given; see jobs_of
  When color = When::kAuto, progress = When::kAuto;
};
void add_general_options(CLI::App& app, GeneralOptions& options);

struct DumpOptions {
  std::vector<std::string> options;      // -d, each as typed
  std::vector<std::string> positionals;  // the same without -d
};
enum class DumpPositional : uint8_t { kYes, kNo };  // kNo: positionals mean something else
// `aliases`: further names, ",--dump_file".
void add_dump_options(CLI::App& app, DumpOptions& options, const std::string& aliases = "",
                      DumpPositional positional = DumpPositional::kYes);
// The resolved paths: comma lists are split unless a file of that name exists, `-` is replaced by the list on stdin,
// and no path at all by $MSDUMP_DUMP or ".". A typed path that does not exist is kNotFound with the nearest name as a
// hint; paths of a list on stdin are not checked here.
[[nodiscard]] Result<std::vector<std::string>> resolve_dumps(const DumpOptions& options, const CancelToken& cancel);

// The same for commands that continue after a missing path: those that do not exist are in `missing`.
struct ResolvedPaths {
  std::vector<std::string> paths;
  std::vector<Error> missing;
};
[[nodiscard]] Result<ResolvedPaths> resolve_existing(const DumpOptions& options, const CancelToken& cancel);

// Any number of arguments that are not options. Help does not list them: `usage` names them.
CLI::Option* add_positionals(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                             const std::string& description);

CLI::Option* add_output_option(CLI::App& app, std::string& path, const std::string& description);
void add_selection_options(CLI::App& app, SelectionOptions& options);
// Only --io and --slot.
void add_tensor_options(CLI::App& app, SelectionOptions& options);
void add_report_options(CLI::App& app, report::Form& form);

// The value of -j; else $MSDUMP_JOBS, else the CPUs of this process.
[[nodiscard]] Result<unsigned> jobs_of(uint32_t jobs);

// A whole number from `least` on. Other spellings ("1e3", "0x10", "010") are rejected.
CLI::Option* add_number(CLI::App& app, const std::string& names, uint32_t& target, uint32_t least, uint32_t most,
                        const std::string& description);

// A value from a list, case-insensitive, with did-you-mean. `what` is the noun of the message: "output type". A refused
// word is known from other tools.
struct RefusedWord {
  std::string word, message, hint;
};
struct ChoiceText {
  std::string what, description;
  std::vector<RefusedWord> refused = {};
  std::string hint = {};  // for an unknown word; empty: the accepted words
};
CLI::Option* add_choice_text(CLI::App& app, const std::string& names, std::vector<std::string> words,
                             const ChoiceText& text, const std::function<void(size_t)>& chosen);

template <class Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& names, Enum& target,
                        const std::vector<std::pair<std::string, Enum>>& choices, const ChoiceText& text) {
  std::vector<std::string> words;
  for (const std::pair<std::string, Enum>& choice : choices) words.push_back(choice.first);
  return add_choice_text(app, names, words, text, [&target, choices](size_t index) { target = choices[index].second; });
}

// The accepted words of an option made by add_choice, for help and completion; empty for others.
[[nodiscard]] std::vector<std::string> choices_of(const CLI::Option& option);

// Environment variables that replace options: {long name, variable, what it does}.
struct EnvironmentVariable {
  std::string_view option;  // empty: for every command
  std::string_view name;
  std::string_view meaning;
};
[[nodiscard]] std::span<const EnvironmentVariable> environment_variables();

}  // namespace msdump::cli
