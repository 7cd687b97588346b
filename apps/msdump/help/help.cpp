#include "help/help.h"

#include <algorithm>

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

std::string options_section(const OptionTable& options, size_t width) {
  std::string text;
  for (const std::string_view group : options.groups()) {
    if (group.empty()) continue;  // hidden
    text += fmt::format("\n{}:\n", group);
    for (const Option& option : options.options()) {
      if (option.group != group) continue;
      // Long names are aligned whether or not there is a short one.
      const std::string inset(option.letters().empty() ? 4 : 0, ' ');
      const std::string value = option_value(option);
      const std::string name = inset + option_names(option) + (value.empty() ? "" : " " + value);
      text += entry(name, option_description(option), kColumn, width);
    }
  }
  return text;
}

std::string environment_section(const OptionTable& options, size_t width) {
  std::string text = "\nEnvironment:\n";
  for (const EnvironmentVariable& variable : environment_variables()) {
    const auto reads = [&](const Option& option) { return option.variable == variable.name; };
    const bool concerns = variable.is_general || std::any_of(options.options().begin(), options.options().end(), reads);
    if (concerns) text += entry(std::string(variable.name), variable.meaning, 16, width);
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

std::string overview(const CommandTree& tree) {
  std::string text = fmt::format(
      "msdump: {}\n"
      "Usage: msdump COMMAND [OPTIONS]\n"
      "Start with:\n"
      "  msdump diff BAD GOOD                      the operator that differs first\n"
      "  msdump check --first DUMP                 the operator with the first NaN\n"
      "  msdump find-op --line net.py:23 -d DUMP   the operators and tensors of a line\n\n"
      "Commands:\n",
      kTagline);
  for (const CommandTree::Entry& one : tree.entries())
    text += fmt::format("  {:<14}{}\n", one.info().name, one.info().summary);
  return text + "\nmsdump COMMAND --help describes a command; bug reports need msdump --version.\n";
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

// The manual page, made from the same tree of options as --help.

namespace {

// Text as troff takes it: no hyphenation marks, no request at the start of a line.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += "\\&";
      result += c;
    } else {
      result += c;
    }
  }
  return result;
}

std::string tagged(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(tag), escaped(text));
}

std::string options_text(const OptionTable& options) {
  std::string text;
  for (const std::string_view group : options.groups()) {
    if (group.empty()) continue;
    text += fmt::format(".PP\n.I {}\n", escaped(group));
    for (const Option& option : options.options()) {
      if (option.group != group) continue;
      const std::string value = option_value(option);
      text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", escaped(option_names(option)),
                          value.empty() ? "" : " \\fI" + escaped(value) + "\\fR", escaped(option_description(option)));
    }
  }
  return text;
}

std::string command_section(const CommandTree::Entry& entry) {
  const CommandInfo& info = entry.info();
  std::string text = fmt::format(".SS msdump {}\n.B msdump {}\n{}\n.PP\n{}\n", escaped(info.name), escaped(info.name),
                                 escaped(info.usage), escaped(info.description));
  text += options_text(*entry.options);
  if (!info.examples.empty()) text += ".PP\n.I Examples\n";
  for (const Example& example : info.examples) {
    text +=
        fmt::format(".PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n.RS 8\n{}\n.RE\n", escaped(example.line), escaped(example.meaning));
  }
  text += ".PP\n.I Exit status\n";
  for (const ExitMeaning& one : exit_meanings(info)) text += tagged(one.code, one.meaning);
  return text;
}

}  // namespace

std::string man_page(const CommandTree& tree) {
  std::string text = fmt::format(".TH MSDUMP 1 \"\" \"msdump {}\" \"User Commands\"\n", version_number());
  text += fmt::format(".SH NAME\nmsdump \\- {}\n", escaped(kTagline));
  text += ".SH SYNOPSIS\n.B msdump\n.I COMMAND\n[\\fIOPTIONS\\fR]\n";
  text +=
      ".SH DESCRIPTION\nReads tensor dumps without Python, CANN or a framework. Results go to standard output, "
      "everything else to standard error. One file that cannot be read never ends a run: it is named, the other files "
      "are read, and the exit status is 3.\n.PP\nLong options may have a single dash, as in msaccucmp: \\fB\\-out\\fR "
      "\\fIDIR\\fR, \\fB\\-out=\\fIDIR\\fR.\n";
  text += ".SH COMMANDS\n";
  for (const CommandTree::Entry& entry : tree.entries()) text += command_section(entry);
  text += ".SH ENVIRONMENT\n";
  for (const EnvironmentVariable& variable : environment_variables()) text += tagged(variable.name, variable.meaning);
  return text;
}

// msdump help [COMMAND]

namespace {

class Help : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override {
    static const CommandInfo info{.name = "help",
                                  .order = 100,
                                  .summary = "this screen, or the help of one command",
                                  .usage = "[COMMAND] [--man]",
                                  .description = "Prints the first screen, or what COMMAND --help prints.",
                                  .examples = {{"msdump help convert", "the same as msdump convert --help"},
                                               {"msdump help --man | man -l -", "the manual page"}},
                                  .done = {},
                                  .no = {},
                                  .works = false};
    return info;
  }

  void declare(OptionTable& options) override {
    options.add({{.names = "COMMAND", .value = OptionValue::text(command_, ""), .help = "The command"},
                 {.names = "--man",
                  .value = OptionValue::flag(man_),
                  .group = kGeneralGroup,
                  .help = "The manual page, for man -l -"}});
  }

  ExitCode run(Session& session) override {
    if (man_) {
      (void)session.out.write(man_page(session.tree));
      return ExitCode::kOk;
    }
    if (command_.empty()) {
      (void)session.out.write(overview(session.tree));
      return ExitCode::kOk;
    }
    const CommandTree::Entry& entry = session.tree.find(command_);
    const size_t width = std::clamp<size_t>(session.terminal.out_width, 60, 100);
    (void)session.out.write(command_help(entry.info(), *entry.options, width));
    return ExitCode::kOk;
  }

 private:
  std::string command_;
  bool man_ = false;
};

const Registration kHelpCommand{[] { return std::make_unique<Help>(); }};

}  // namespace

}  // namespace msdump::cli
