// The manual pages, made from the same tree of options as --help.
#include <fmt/format.h>

#include "base/text.h"
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

std::string options_text(const OptionTable& options) {
  std::string text;
  for (const std::string_view group : options.groups()) {
    if (group.empty()) continue;
    text += fmt::format(".SS {}\n", escaped(group));
    for (const Option& option : options.options()) {
      if (option.group != group) continue;
      const std::string value = option_value(option);
      text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", escaped(option_names(option)),
                          value.empty() ? "" : " \\fI" + escaped(value) + "\\fR", escaped(option_description(option)));
    }
  }
  return text;
}

// "msdump-diff"
std::string page_name(const CommandInfo& info) { return fmt::format("msdump-{}", info.name); }

std::string title(std::string_view page) {
  return fmt::format(".TH {} 1 \"\" \"msdump {}\" \"User Commands\"\n", escaped(to_upper(page)), version_number());
}

// The other pages.
std::string see_also(const CommandTree& tree, const CommandInfo* page) {
  std::string text = ".SH SEE ALSO\n";
  if (page != nullptr) text += ".BR msdump (1),\n";
  for (const CommandTree::Entry& entry : tree.entries()) {
    if (&entry.info() != page) text += fmt::format(".BR {} (1),\n", escaped(page_name(entry.info())));
  }
  text.erase(text.size() - 2, 1);  // the last comma
  return text;
}

}  // namespace

std::string man_page(const CommandTree& tree, const CommandTree::Entry& entry) {
  const CommandInfo& info = entry.info();
  std::string text = title(page_name(info));
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(page_name(info)), escaped(info.summary));
  text += fmt::format(".SH SYNOPSIS\n.B msdump {}\n{}\n", escaped(info.name), escaped(info.usage));
  text += fmt::format(".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}", escaped(info.description), options_text(*entry.options));
  if (info.works) {
    text += ".SH ENVIRONMENT\n";
    for (const EnvironmentVariable& variable : environment_variables()) {
      if (concerns(variable, *entry.options)) text += tagged(variable.name, variable.meaning);
    }
  }
  text += ".SH EXIT STATUS\n";
  for (const ExitMeaning& one : exit_meanings(info)) text += tagged(one.code, one.meaning);
  if (!info.examples.empty()) text += ".SH EXAMPLES\n";
  for (const Example& example : info.examples) {
    text +=
        fmt::format(".PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n.RS 8\n{}\n.RE\n", escaped(example.line), escaped(example.meaning));
  }
  return text + see_also(tree, &info);
}

std::string man_page(const CommandTree& tree) {
  std::string text = title("msdump");
  text += fmt::format(".SH NAME\nmsdump \\- {}\n", escaped(kTagline));
  text += ".SH SYNOPSIS\n.B msdump\n.I COMMAND\n[\\fIOPTIONS\\fR]\n";
  text +=
      ".SH DESCRIPTION\nReads tensor dumps without Python, CANN or a framework. Results go to standard output, "
      "everything else to standard error. One file that cannot be read never ends a run: it is named, the other files "
      "are read, and the exit status is 3.\n.PP\nLong options may have a single dash, as in msaccucmp: \\fB\\-out\\fR "
      "\\fIDIR\\fR, \\fB\\-out=\\fIDIR\\fR.\n";
  text += ".SH COMMANDS\nEach has a manual page of its own.\n";
  for (const CommandTree::Entry& entry : tree.entries()) text += tagged(entry.info().name, entry.info().summary);
  text += ".SH ENVIRONMENT\n";
  for (const EnvironmentVariable& variable : environment_variables()) text += tagged(variable.name, variable.meaning);
  text += ".SH EXIT STATUS\n";
  for (const ExitMeaning& one : exit_meanings(any_command())) text += tagged(one.code, one.meaning);
  return text + see_also(tree, nullptr);
}

}  // namespace msdump::cli
