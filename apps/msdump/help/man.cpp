// The manual page, made from the same tree of options as --help.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "frame/cli.h"
#include "help/help.h"

namespace msdump::cli {
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

std::string options_of(const CLI::App& app) {
  std::string text;
  for (const std::string& group : app.get_groups()) {
    if (group.empty()) continue;
    text += fmt::format(".PP\n.I {}\n", escaped(group));
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() != group || !option->nonpositional()) continue;
      const std::string value = option_value(*option);
      text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", escaped(option_names(*option)),
                          value.empty() ? "" : " \\fI" + escaped(value) + "\\fR", escaped(option_description(*option)));
    }
  }
  return text;
}

std::string command_section(const CommandTree::Entry& entry) {
  const CommandInfo& info = entry.info();
  std::string text = fmt::format(".SS msdump {}\n.B msdump {}\n{}\n.PP\n{}\n", escaped(info.name), escaped(info.name),
                                 escaped(info.usage), escaped(info.description));
  text += options_of(*entry.app);
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

}  // namespace msdump::cli
