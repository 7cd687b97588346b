// What holds for every option of every command, asked of the live tree.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "frame/command_line.h"
#include "help/help.h"
#include "support/catch.h"
#include "support/program/run_program.h"

namespace msdump::cli {
namespace {

TEST_CASE("every option has a long name and says what it does") {
  const CommandTree tree;
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const Option& option : entry.options->options()) {
      INFO(entry.info().name << " " << option.names);
      CHECK_FALSE(option.help.empty());
      if (!option.is_argument()) CHECK_FALSE(option.long_names().empty());
    }
  }
}

TEST_CASE("no letter that is a flag can be read as the start of a long name typed with one dash") {
  const CommandTree tree;
  for (const CommandTree::Entry& entry : tree.entries()) {
    const OptionNames names(*entry.options);
    for (const Option& option : entry.options->options()) {
      for (const std::string& name : option.long_names()) {
        INFO(entry.info().name << " --" << name);
        // A bundle is a run of flags, of which the last may take a value.
        const bool bundle =
            std::all_of(name.begin(), name.end() - 1,
                        [&](char letter) { return names.has_letter(letter) && !names.letter_takes_value(letter); }) &&
            names.has_letter(name.back());
        CHECK_FALSE(bundle);
      }
    }
  }
}

TEST_CASE("the letter -o is nobody's letter") {
  const CommandTree tree;
  for (const CommandTree::Entry& entry : tree.entries()) CHECK_FALSE(OptionNames(*entry.options).has_letter('o'));
}

TEST_CASE("the same option means the same in every command") {
  const CommandTree tree;
  std::map<std::string, std::string> meaning;
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const Option& option : entry.options->options()) {
      for (const std::string& letter : option.letters()) {
        const std::string name = option.long_names().front();
        INFO(entry.info().name << " -" << letter);
        CHECK(meaning.emplace(letter, name).first->second == name);
      }
    }
  }
}

TEST_CASE("the rules of options name options, and a reason is a sentence of its own") {
  const CommandTree tree;
  std::set<std::string> names;
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const Option& option : entry.options->options()) names.insert(option.key());
  }
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const Option& option : entry.options->options()) {
      INFO(entry.info().name << " " << option.names);
      for (const OptionRule& rule : option.excludes) CHECK(names.contains(std::string(rule.name)));
      for (const OptionRule& rule : option.needs) CHECK(names.contains(std::string(rule.name)));
    }
  }
}

// A new option of the output must say whether a shard takes it (OptionUse); these are the ones that a part records.
TEST_CASE("options under Output that belong to the work of a shard are known") {
  const std::set<std::string> known = {
      "convert --list-dtypes", "convert --list-formats", "check --first",       "check --trend",
      "diff --by-axis",        "diff --explain",         "diff --list-metrics", "diff --metrics",
      "diff --worst",          "stats --fail-on",        "stats --top"};
  std::set<std::string> found;
  const CommandTree tree;
  for (const CommandTree::Entry& entry : tree.entries()) {
    if (entry.options->find("shard") == nullptr) continue;
    for (const Option& option : entry.options->options()) {
      const bool is_recorded = option.use == OptionUse::kWork;
      if (is_recorded && option.group == kOutputGroup)
        found.insert(std::string(entry.info().name) + " " + option.spelling());
    }
  }
  CHECK(found == known);
}

TEST_CASE("the help of a command lists all its options, and its lines fit") {
  const CommandTree tree;
  for (const CommandTree::Entry& entry : tree.entries()) {
    const std::string help = command_help(entry.info(), *entry.options, 80);
    for (const Option& option : entry.options->options()) {
      INFO(entry.info().name << " " << option.names);
      if (!option.is_argument() && !option.group.empty()) CHECK(help.find(option_names(option)) != std::string::npos);
    }
    if (!entry.info().examples.empty()) CHECK(help.find("\nExamples:\n") < help.find("\nGeneral:\n"));
    for (const std::string_view line : split(help, '\n')) {
      INFO(line);
      CHECK(display_width(line) <= 100);
    }
  }
}

TEST_CASE("the short help of a command fits one screen, and points to the long one") {
  const CommandTree tree;
  for (const CommandTree::Entry& entry : tree.entries()) {
    const std::string help = short_help(entry.info(), *entry.options, 80);
    INFO(help);
    CHECK(std::count(help.begin(), help.end(), '\n') <= 40);
    for (const std::string_view line : split(help, '\n')) CHECK(display_width(line) <= 80);
    const std::string_view last = std::string_view(help).substr(help.rfind('\n', help.size() - 2) + 1);
    CHECK(last.starts_with(fmt::format("msdump {} --help", entry.info().name)));
    const auto is_shown = [&](const Option& option) { return option.is_common && !option.group.empty(); };
    const auto common = std::count_if(entry.options->options().begin(), entry.options->options().end(), is_shown);
    if (entry.info().works && common > 0) CHECK((common >= 4 && common <= 12));  // commands of tests have none
    CHECK((entry.info().examples.empty() || help.find("\nExamples:\n") != std::string::npos));
  }
}

// A name that leads to two commands, or to one that has it already, leads nowhere.
TEST_CASE("the names that other tools use are no names of ours, and lead to one place") {
  const CommandTree tree;
  std::set<std::string> known;
  for (const CommandTree::Entry& entry : tree.entries()) known.emplace(entry.info().name);
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const OtherName& other : entry.info().other_names) {
      for (const std::string_view word : split(other.words, ' ')) {
        INFO(entry.info().name << " " << word);
        CHECK(known.emplace(word).second);
      }
    }
    std::set<std::string> options;
    for (const Option& option : entry.options->options()) {
      for (const std::string& name : option.long_names()) options.insert(name);
    }
    for (const Option& option : entry.options->options()) {
      for (const std::string_view word : split(option.other_names, ' ')) {
        if (word.empty() || entry.options->find(word) != nullptr) continue;  // another option of this command
        INFO(entry.info().name << " --" << word);
        CHECK(options.emplace(word).second);
      }
    }
  }
}

TEST_CASE("the first screen fits a terminal and names every command") {
  const CommandTree tree;
  const std::string screen = overview(tree, kFewStarts);
  CHECK(std::count(screen.begin(), screen.end(), '\n') <= 24);
  const std::string all = overview(tree);
  CHECK(std::count(all.begin(), all.end(), '\n') <= 40);
  for (const CommandTree::Entry& entry : tree.entries()) CHECK(screen.find(entry.info().name) != std::string::npos);
  for (const std::string_view line : split(screen, '\n')) CHECK(display_width(line) <= 80);
}

TEST_CASE("every example of every command is understood by its command") {
  const CommandTree tree;
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const Example& example : entry.info().examples) {
      INFO(example.line);
      CHECK(example.line.find(std::string("msdump ") + std::string(entry.info().name)) != std::string_view::npos);
      const OptionNames names(*entry.options);
      for (const std::string_view word : split(example.line.substr(example.line.find("msdump ")), ' ')) {
        if (word == "|" || word == ">") break;  // the rest is the shell's
        if (word.size() < 2 || word[0] != '-') continue;
        const std::string name(word.substr(word.starts_with("--") ? 2 : 1));
        INFO(word);
        CHECK((names.has_long(name) || (name.size() == 1 && names.has_letter(name[0]))));
      }
    }
  }
}

}  // namespace
}  // namespace msdump::cli
