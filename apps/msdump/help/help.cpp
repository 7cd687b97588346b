#include "help/help.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/cli.h"

namespace msdump::cli {
namespace {

constexpr size_t kIndent = 2, kColumn = 28;  // where descriptions begin

// A name, then its description in the second column, on the next line if the name is too long.
std::string entry(const std::string& name, std::string_view description, size_t column, size_t width) {
  std::string line = std::string(kIndent, ' ') + name;
  if (display_width(line) + 2 > column) {
    line += '\n' + std::string(column, ' ');
  } else {
    line.append(column - display_width(line), ' ');
  }
  return line + wrapped(description, column, width);
}

// Long names are aligned whether or not there is a short one.
std::string option_line(const Option& option, std::string_view description, size_t width) {
  const std::string inset(option.letters().empty() ? 4 : 0, ' ');
  const std::string value = option_value(option);
  const std::string name = inset + option_names(option) + (value.empty() ? "" : " " + value);
  return entry(name, description, kColumn, width);
}

std::string options_section(const OptionTable& options, size_t width) {
  std::string text;
  for (const std::string_view group : options.groups()) {
    if (group.empty()) continue;  // hidden
    text += fmt::format("\n{}:\n", group);
    for (const Option& option : options.options()) {
      if (option.group != group) continue;
      text += option_line(option, option_description(option), width);
    }
  }
  return text;
}

std::string environment_section(const OptionTable& options, size_t width) {
  std::string text = "\nEnvironment:\n";
  for (const EnvironmentVariable& variable : environment_variables()) {
    if (concerns(variable, options)) text += entry(std::string(variable.name), variable.meaning, 16, width);
  }
  return text;
}

std::string exit_section(const CommandInfo& info, size_t width) {
  std::string text = "\nExit codes:\n";
  for (const ExitMeaning& one : exit_meanings(info)) text += entry(one.code, one.meaning, 16, width);
  return text;
}

}  // namespace

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  std::string result;
  size_t used = indent;
  for (const std::string_view word : split(text, ' ')) {
    const size_t columns = display_width(word);
    if (used > indent && used + 1 + columns > width) {
      result += '\n' + std::string(indent, ' ');
      used = indent;
    }
    if (used > indent) {
      result += ' ';
      ++used;
    }
    result += word;
    used += columns;
  }
  return result + '\n';
}

std::string option_description(const Option& option) {
  std::vector<std::string> extras;
  if (!option.otherwise.empty()) extras.push_back("default: " + option.otherwise);
  const bool is_named = option.otherwise.find(option.variable) != std::string::npos;
  if (!is_named) extras.push_back("environment: " + std::string(option.variable));
  if (option.since != kFirstVersion) extras.push_back("since " + std::string(option.since));
  return extras.empty() ? option.help : fmt::format("{} [{}]", option.help, fmt::join(extras, "; "));
}

const CommandInfo& any_command() {
  static const CommandInfo info{.name = "COMMAND",
                                .no = "done, and the answer is no: something differs or was found, or nothing matches",
                                .answers = true};
  return info;
}

bool concerns(const EnvironmentVariable& variable, const OptionTable& options) {
  const auto reads = [&](const Option& option) { return option.variable == variable.name; };
  return variable.is_general || std::any_of(options.options().begin(), options.options().end(), reads);
}

std::vector<ExitMeaning> exit_meanings(const CommandInfo& info) {
  std::vector<ExitMeaning> meanings = {{"0", info.done.empty() ? "done" : std::string(info.done)}};
  if (!info.no.empty()) meanings.push_back({"1", std::string(info.no)});
  meanings.push_back({"2", "usage error, a missing path, or no input found"});
  if (!info.works) return meanings;
  meanings.push_back({"3", "finished, but some or all inputs failed; each is named on stderr and in the report"});
  meanings.push_back({"70", "internal error, please report"});
  if (info.answers) meanings.push_back({"141", "the reader of the results has gone before the answer was known"});
  meanings.push_back({"130, 143", "interrupted by SIGINT, SIGTERM; no partial file is left"});
  return meanings;
}

std::string option_names(const Option& option) {
  std::vector<std::string> names;
  for (const std::string& letter : option.letters()) names.push_back("-" + letter);
  for (const std::string& name : option.long_names()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string option_value(const Option& option) {
  const std::vector<std::string>& words = option.value.words();
  return words.empty() ? option.value.name() : fmt::format("{}", fmt::join(words, "|"));
}

std::string overview(const CommandTree& tree, size_t starts) {
  constexpr std::array kStarts = {
      Example{"msdump diff BAD GOOD", "the operator that differs first"},
      Example{"msdump check --first DUMP", "the operator with the first NaN"},
      Example{"msdump find-op --line net.py:23 -d DUMP", "the operators and tensors of a line"},
      Example{"msdump info PATH", "what a file or a dump is"},
      Example{"msdump convert -d DUMP -out OUT -f NCHW", "dump files as arrays for numpy"},
      Example{"msdump check-config data_dump.json", "mistakes, before the run"}};
  std::string text = fmt::format("msdump: {}\nUsage: msdump COMMAND [OPTIONS]\nStart with:\n", kTagline);
  for (const Example& start : std::span(kStarts).first(std::min(starts, kStarts.size())))
    text += fmt::format("  {:<42}{}\n", start.line, start.meaning);
  text += "\nCommands:\n";
  for (const CommandTree::Entry& one : tree.entries())
    text += fmt::format("  {:<14}{}\n", one.info().name, one.info().summary);
  return text + "\nmsdump COMMAND -h describes a command in short, msdump COMMAND --help in full.\n";
}

std::string program_help(const CommandTree& tree, size_t width) {
  std::string text = overview(tree);
  text += "\n" + wrapped(
                     "Results go to standard output, everything else to standard error. Long options may have a single "
                     "dash, as in msaccucmp: -out DIR. msdump help words explains the words of the output; bug "
                     "reports need msdump --version.",
                     0, width);
  const CommandTree::Entry& typical = *tree.find("diff");
  text += fmt::format("\n{} options of all commands:\n", kGeneralGroup);
  for (const Option& option : typical.options->options()) {
    if (option.group == kGeneralGroup) text += option_line(option, option_description(option), width);
  }
  text += "\nEnvironment:\n";
  for (const EnvironmentVariable& variable : environment_variables())
    text += entry(std::string(variable.name), variable.meaning, 16, width);
  return text + exit_section(any_command(), width);
}

// The first clause of a help text, shorter still if it takes more than a line.
std::string_view first_clause(std::string_view text, size_t width) {
  text = text.substr(0, std::min(text.find("; "), text.find(". ")));
  return display_width(text) <= width ? text : text.substr(0, std::min(text.find(": "), text.find(", ")));
}

// An example that a terminal would break is not for the first screen.
std::string short_examples(const CommandInfo& info, size_t width) {
  constexpr size_t kMost = 6;
  std::string text;
  size_t shown = 0;
  for (const Example& example : info.examples) {
    if (shown == kMost || kIndent + display_width(example.line) > width) continue;
    text += fmt::format("  {}\n      {}", example.line, wrapped(example.meaning, 6, width));
    ++shown;
  }
  return text.empty() ? text : "\nExamples:\n" + text;
}

std::string short_help(const CommandInfo& info, const OptionTable& options, size_t width) {
  std::string text = "Usage: " + wrapped(fmt::format("msdump {} {}", info.name, info.usage), 7, width);
  text += "\n" + wrapped(to_upper(info.summary.substr(0, 1)) + std::string(info.summary.substr(1)), 0, width);
  text += short_examples(info, width);
  std::string common;
  for (const Option& option : options.options()) {
    if (option.is_common && !option.is_argument())
      common += option_line(option, first_clause(option.help, width - kColumn), width);
  }
  if (!common.empty()) text += "\nOptions:\n" + common;
  return text + fmt::format("\nmsdump {} --help lists every option, and the exit codes.\n", info.name);
}

std::string command_help(const CommandInfo& info, const OptionTable& options, size_t width) {
  std::string text = fmt::format("Usage: msdump {} {}\n\n", info.name, info.usage);
  text += wrapped(info.description, 0, width);
  if (!info.examples.empty()) text += "\nExamples:\n";
  for (const Example& example : info.examples) {
    text += fmt::format("  {}\n      {}", example.line, wrapped(example.meaning, 6, width));
  }
  text += options_section(options, width);
  if (info.works) text += environment_section(options, width);
  return text + exit_section(info, width);
}

}  // namespace msdump::cli
