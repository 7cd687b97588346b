// msdump help [COMMAND|WORD]
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "frame/cli.h"
#include "help/help.h"
#include "help/other_names.h"
#include "help/words.h"

namespace msdump::cli {
namespace {

class Help : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override {
    static const CommandInfo info{
        .name = "help",
        .order = 100,
        .summary = "this screen, the help of a command, or what a word means",
        .usage = "[COMMAND | WORD | words] [--man]",
        .description = "Prints the first screen, what COMMAND --help prints, or what a word of the output means.",
        .examples = {{"msdump help convert", "the same as msdump convert --help"},
                     {"msdump help words", "all words of the output, each explained once"},
                     {"msdump help noise", "one of them"},
                     {"msdump help --man | man -l -", "the manual page"},
                     {"msdump help diff --man | man -l -", "that of a command"}},
        .works = false,
        .other_names = {{"glossary terms dictionary vocabulary meaning", "words"}, {"usage commands"}}};
    return info;
  }

  void declare(OptionTable& options) override {
    options.add({{.names = "COMMAND",
                  .value = OptionValue::arguments(typed_),
                  .suggestions = single_words(),
                  .help = "The command, or a word"},
                 {.names = "--man",
                  .is_common = true,
                  .value = OptionValue::flag(man_),
                  .group = kGeneralGroup,
                  .help = "The manual page, for man -l -; with COMMAND that of the command"}});
  }

  ExitCode run(Session& session) override {
    const size_t width = std::clamp<size_t>(session.terminal.out_width, 60, 100);
    (void)session.out.write(text(session.tree, fmt::format("{}", fmt::join(typed_, " ")), width));
    return ExitCode::kOk;
  }

 private:
  // Words that a shell can offer.
  static std::vector<std::string> single_words() {
    std::vector<std::string> names = {"words"};
    for (const Word& word : words()) {
      if (word.name.find(' ') == std::string_view::npos) names.emplace_back(word.name);
    }
    return names;
  }

  [[nodiscard]] std::string text(const CommandTree& tree, const std::string& topic, size_t width) const {
    if (topic.empty()) return man_ ? man_page(tree) : overview(tree);
    const CommandTree::Entry* const entry = tree.find(topic);
    if (entry != nullptr) return man_ ? man_page(tree, *entry) : command_help(entry->info(), *entry->options, width);
    if (man_) throw unknown_command(tree, std::span(&topic, 1));
    if (topic == "words") return words_text(width);
    if (const Word* const word = find_word(topic)) return word_text(*word, width);
    if (typed_.size() > 1)
      throw UsageError(fmt::format("unexpected argument '{}'", typed_[1]), "msdump help --help lists the options");
    throw unknown_topic(tree, topic);
  }

  // A misspelt word, unless the name of a command is as near.
  static UsageError unknown_topic(const CommandTree& tree, const std::string& topic) {
    std::vector<std::string> names;
    for (const CommandTree::Entry& entry : tree.entries()) names.emplace_back(entry.info().name);
    const std::optional<std::string> near = nearest_word(topic);
    if (!near || closest_match(topic, names) || !hint_for(tree, to_lower(topic), {}).empty())
      return unknown_command(tree, std::span(&topic, 1));
    return UsageError(fmt::format("unknown word '{}'; did you mean '{}'?", topic, *near),
                      "msdump help words lists all words");
  }

  std::vector<std::string> typed_;
  bool man_ = false;
};

const Registration kHelpCommand{[] { return std::make_unique<Help>(); }};

}  // namespace
}  // namespace msdump::cli
