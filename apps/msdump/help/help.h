// Help texts, all made from the live tree of options, so that they cannot disagree with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frame/options.h"

namespace msdump::cli {

// The purpose of the program, in one line.
inline constexpr std::string_view kTagline = "finds what went wrong first in a MindSpore / Ascend tensor dump";

class CommandTree;
struct CommandInfo;

// Words of `text` in lines of at most `width` columns; each line but the first, which follows existing text, begins
// with `indent` blanks. Ends in a line end.
[[nodiscard]] std::string wrapped(std::string_view text, size_t indent, size_t width);

// The first screen: at most 24 lines.
[[nodiscard]] std::string overview(const CommandTree& tree);

// Usage, a paragraph, examples, options by group, environment, exit codes; wrapped at `width`.
[[nodiscard]] std::string command_help(const CommandInfo& info, const OptionTable& options, size_t width);

// The manual page in man's own language (troff), for man1/msdump.1.
[[nodiscard]] std::string man_page(const CommandTree& tree);

// The help of an option with its default and its environment variable.
[[nodiscard]] std::string option_description(const Option& option);

// The meaning of an exit code for a command: {"0", "done"}, ...
struct ExitMeaning {
  std::string code, meaning;
};
[[nodiscard]] std::vector<ExitMeaning> exit_meanings(const CommandInfo& info);

// "-d, --dump, --dump_file"
[[nodiscard]] std::string option_names(const Option& option);
// "DIR|FILE[,...]" or "npy|bin"; empty for a flag.
[[nodiscard]] std::string option_value(const Option& option);

}  // namespace msdump::cli
