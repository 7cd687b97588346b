// msdump completion bash|zsh|fish: a completion script made from the live tree of commands and options.
#include <algorithm>

#include <fmt/format.h>

#include "frame/cli.h"
#include "frame/usage.h"
#include "help/help.h"

namespace msdump::cli {
namespace {

enum class Shell : uint8_t { kBash, kZsh, kFish };
std::vector<std::string> shells() { return {"bash", "zsh", "fish"}; }  // by Shell

// Escapes a text for single quotes in all three shells.
std::string quoted(std::string text) {
  for (size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return text;
}

std::string words_of(const CommandTree& tree) {
  std::string words;
  for (const CommandTree::Entry& entry : tree.entries())
    words += (words.empty() ? "" : " ") + std::string(entry.info().name);
  return words;
}

// The words that a shell completes for an argument ("bash zsh fish"). Empty: it completes file names.
std::string words_of_arguments(const CommandTree& tree, const CommandTree::Entry& entry) {
  std::string words;
  for (const Option& option : entry.options->options()) {
    if (option.is_argument()) words += fmt::format("{}", fmt::join(option.completions(), " "));
  }
  return entry.info().name == "help" ? words_of(tree) + " " + words : words;
}

std::vector<std::string> spellings_of(const Option& option) {
  std::vector<std::string> spellings;
  for (const std::string& name : option.long_names()) spellings.push_back("--" + name);
  for (const std::string& letter : option.letters()) spellings.push_back("-" + letter);
  return spellings;
}

std::string bash_case(const CommandTree& tree, const CommandTree::Entry& entry) {
  std::vector<std::string> options, valued;
  std::string choices;
  for (const Option& option : entry.options->options()) {
    if (option.is_argument()) continue;
    const std::vector<std::string> spellings = spellings_of(option);
    options.insert(options.end(), spellings.begin(), spellings.end());
    if (const auto& words = option.completions(); !words.empty()) {
      choices += fmt::format("        {}) words='{}' ;;\n", fmt::join(spellings, "|"), fmt::join(words, " "));
    } else if (!option.value.is_flag()) {
      valued.insert(valued.end(), spellings.begin(), spellings.end());
    }
  }
  std::string text = fmt::format("    {})\n      case $previous in\n{}", entry.info().name, choices);
  if (!valued.empty()) text += fmt::format("        {}) words= ;;\n", fmt::join(valued, "|"));
  return text + fmt::format(
                    "        *) if [[ $current == -* ]]; then words='{}'; else words='{}'; fi ;;\n      esac\n"
                    "      ;;\n",
                    fmt::join(options, " "), words_of_arguments(tree, entry));
}

// If there are no words, bash falls back to file names (-o default).
std::string bash_script(const CommandTree& tree) {
  std::string text =
      "# bash completion of msdump; made by: msdump completion bash\n"
      "_msdump() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const CommandTree::Entry& entry : tree.entries()) text += bash_case(tree, entry);
  return text + "  esac\n" + fmt::format("  ((COMP_CWORD == 1)) && words='{} --help --version'\n", words_of(tree)) +
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _msdump msdump\n";
}

// _arguments takes all spellings of an option as one specification: '(-t --type)'{-t,--type}'[text]:value:(npy bin)'.
std::string zsh_option(const Option& option) {
  const std::vector<std::string>& words = option.completions();
  const std::vector<std::string> spellings = spellings_of(option);
  std::string text = option.help;
  for (const char special : {'[', ']', ':'}) {
    for (size_t at = 0; (at = text.find(special, at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  }
  std::string value;
  if (!option.value.is_flag()) {
    value = words.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(words, " "));
  }
  const std::string body = fmt::format("'[{}]{}'", quoted(text), quoted(value));
  if (spellings.size() == 1) return fmt::format("      {}{} \\\n", spellings[0], body);
  return fmt::format("      '({})'{{{}}}{} \\\n", fmt::join(spellings, " "), fmt::join(spellings, ","), body);
}

std::string zsh_script(const CommandTree& tree) {
  std::string commands, cases;
  for (const CommandTree::Entry& entry : tree.entries()) {
    commands += fmt::format("    '{}:{}'\n", entry.info().name, quoted(std::string(entry.info().summary)));
    cases += fmt::format("    {})\n    _arguments -s \\\n", entry.info().name);
    for (const Option& option : entry.options->options()) {
      if (!option.is_argument()) cases += zsh_option(option);
    }
    const std::string words = words_of_arguments(tree, entry);
    cases += words.empty() ? "      '*:file:_files'\n    ;;\n" : fmt::format("      '*:word:({})'\n    ;;\n", words);
  }
  return "#compdef msdump\n# zsh completion of msdump; made by: msdump completion zsh\n_msdump() {\n  local -a "
         "commands=(\n" +
         commands + "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n" +
         "  local command=$words[2]\n  words=(\"${(@)words[2,-1]}\")\n  ((CURRENT--))\n  case $command in\n" + cases +
         "  esac\n}\n_msdump \"$@\"\n";
}

std::string fish_script(const CommandTree& tree) {
  std::string text = "# fish completion of msdump; made by: msdump completion fish\n";
  for (const CommandTree::Entry& entry : tree.entries()) {
    const CommandInfo& info = entry.info();
    text += fmt::format("complete -c msdump -n __fish_use_subcommand -f -a {} -d '{}'\n", info.name,
                        quoted(std::string(info.summary)));
    if (const std::string words = words_of_arguments(tree, entry); !words.empty())
      text += fmt::format("complete -c msdump -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", info.name, words);
    for (const Option& option : entry.options->options()) {
      if (option.is_argument()) continue;
      text += fmt::format("complete -c msdump -n '__fish_seen_subcommand_from {}'", info.name);
      for (const std::string& letter : option.letters()) text += " -s " + letter;
      for (const std::string& name : option.long_names()) text += " -l " + name;
      if (const auto& words = option.completions(); !words.empty()) {
        text += fmt::format(" -x -a '{}'", fmt::join(words, " "));
      } else if (!option.value.is_flag()) {
        text += " -r";
      }
      text += fmt::format(" -d '{}'\n", quoted(option.help));
    }
  }
  return text;
}

class Completion : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override {
    static const CommandInfo info{
        .name = "completion",
        .order = 101,
        .summary = "prints a completion script for bash, zsh or fish",
        .usage = "bash|zsh|fish",
        .description = "Prints a script that completes commands, options and their values in a shell.",
        .examples = {{"msdump completion bash > ~/.local/share/bash-completion/completions/msdump", "for new shells"},
                     {"msdump completion zsh > ~/.zfunc/_msdump", "with ~/.zfunc in fpath"},
                     {"msdump completion fish > ~/.config/fish/completions/msdump.fish", "for new shells"}},
        .done = {},
        .no = {},
        .works = false,
        .other_names = {{"complete autocomplete bash zsh fish"}}};
    return info;
  }

  void declare(OptionTable& options) override {
    options.add({.names = "SHELL",
                 .value = OptionValue::text(shell_, ""),
                 .suggestions = shells(),
                 .help = "bash, zsh or fish"});
  }

  ExitCode run(Session& session) override {
    const std::vector<std::string> known = shells();
    if (shell_.empty()) throw UsageError("name a shell: " + join_words(known));
    const std::vector<std::string>::const_iterator found = std::find(known.begin(), known.end(), shell_);
    if (found == known.end())
      throw UsageError(unknown_word("shell", shell_, known), "there are " + join_words(known, "and"));
    switch (static_cast<Shell>(found - known.begin())) {
      case Shell::kBash: (void)session.out.write(bash_script(session.tree)); break;
      case Shell::kZsh: (void)session.out.write(zsh_script(session.tree)); break;
      case Shell::kFish: (void)session.out.write(fish_script(session.tree)); break;
    }
    return ExitCode::kOk;
  }

 private:
  std::string shell_;
};

const Registration kCompletionCommand{[] { return std::make_unique<Completion>(); }};

}  // namespace
}  // namespace msdump::cli
