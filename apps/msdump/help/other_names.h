// Leads from what people type who know another tool to the command that does it. The words stand where commands and
// options are declared (CommandInfo::other_names, Option::other_names).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frame/cli.h"

namespace msdump::cli {

// The error for arguments that do not begin with a command: a word of another tool, a path, a line of a script, a
// misspelling, an option.
[[nodiscard]] UsageError unknown_command(const CommandTree& tree, std::span<const std::string> arguments);

// The commands that a word of another tool stands for, with what was typed behind it; empty if it is none.
[[nodiscard]] std::string hint_for(const CommandTree& tree, std::string_view word, std::span<const std::string> typed);

// "--op is an option of msdump stats, msdump ls": the commands with an option of this long name; empty if there is none.
[[nodiscard]] std::string commands_with(const CommandTree& tree, const std::string& option);

}  // namespace msdump::cli
