// Help texts, all made from the live tree of options, so that they cannot disagree with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frame/cli.h"

namespace msdump::cli {

// The purpose of the program, in one line.
inline constexpr std::string_view kTagline = "finds what went wrong first in a MindSpore / Ascend tensor dump";

// Words of `text` in lines of at most `width` columns; each line but the first, which follows existing text, begins
// with `indent` blanks. Ends in a line end.
[[nodiscard]] std::string wrapped(std::string_view text, size_t indent, size_t width);

// The first screen with `starts` examples: with kFewStarts, for those who typed nothing, at most 24 lines.
inline constexpr size_t kFewStarts = 2, kAllStarts = 6;
[[nodiscard]] std::string overview(const CommandTree& tree, size_t starts = kAllStarts);
// The same, with what all commands share: general options, environment, exit codes.
[[nodiscard]] std::string program_help(const CommandTree& tree, size_t width);

// -h: usage, up to six examples and the common options; at 80 columns at most 40 lines.
[[nodiscard]] std::string short_help(const CommandInfo& info, const OptionTable& options, size_t width);
// --help: usage, a paragraph, examples, options by group, environment, exit codes; wrapped at `width`.
[[nodiscard]] std::string command_help(const CommandInfo& info, const OptionTable& options, size_t width);

// Manual pages in man's own language (troff): msdump(1), and msdump-diff(1) of a command.
[[nodiscard]] std::string man_page(const CommandTree& tree);
[[nodiscard]] std::string man_page(const CommandTree& tree, const CommandTree::Entry& entry);

// The help of an option with its default and its environment variable.
[[nodiscard]] std::string option_description(const Option& option);

// The meaning of an exit code for a command: {"0", "done"}, ...
struct ExitMeaning {
  std::string code, meaning;
};
[[nodiscard]] std::vector<ExitMeaning> exit_meanings(const CommandInfo& info);
// Stands for all commands in texts of the program as a whole.
[[nodiscard]] const CommandInfo& any_command();
// True if a command with these options reads the variable.
[[nodiscard]] bool concerns(const EnvironmentVariable& variable, const OptionTable& options);

// "-d, --dump, --dump_file"
[[nodiscard]] std::string option_names(const Option& option);
// "DIR|FILE[,...]" or "npy|bin"; empty for a flag.
[[nodiscard]] std::string option_value(const Option& option);

}  // namespace msdump::cli
