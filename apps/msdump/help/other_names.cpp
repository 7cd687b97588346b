#include "help/other_names.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "dump/names/file_kind.h"
#include "io/dir_walk.h"
#include "shared/dump_paths.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostHints = 2, kMostArguments = 6;
constexpr std::ptrdiff_t kMostCommands = 3;

using Arguments = std::span<const std::string>;

bool is_path(const std::string& typed) { return path_kind(typed) != PathKind::kMissing; }

// The arguments that the usage of a command begins with: "CANDIDATE REFERENCE"; empty if it can do without any.
std::string required_arguments(const CommandInfo& info) {
  std::string text;
  for (const std::string_view word : split(info.usage, ' ')) {
    if (word.starts_with('[') || word == "|") break;
    text += " " + std::string(word);
  }
  return text;
}

// "msdump info x.npy": the command with the arguments that were typed, else with placeholders for those it requires.
std::string command_line(const CommandInfo& info, Arguments typed) {
  const std::string command = fmt::format("msdump {}", info.name);
  if (typed.empty()) return command + required_arguments(info);
  return fmt::format("{} {}{}", command, shell_line(typed.first(std::min(typed.size(), kMostArguments))),
                     typed.size() > kMostArguments ? " ..." : "");
}

std::string command_line(const CommandInfo& info, const Option& option, Arguments typed) {
  const bool has_value = !option.value.is_flag() && option.value.kind() != OptionValue::Kind::kOptional;
  if (has_value && typed.size() == 1 && !is_path(typed[0]))
    return fmt::format("msdump {} {} {}", info.name, option.spelling(), shell_quoted(typed[0]));
  std::string line = command_line(info, typed);
  if (line.find(option.spelling()) != std::string::npos) return line;
  line += " " + option.spelling();
  if (has_value) line += " " + (option.value.words().empty() ? option.value.name() : option.value.words().front());
  return line;
}

// True for an option that says nothing of the command, because most have it: --json, --step.
bool is_usual(const CommandTree& tree, std::string_view option) {
  const auto has_option = [&](const CommandTree::Entry& entry) { return entry.options->find(option) != nullptr; };
  return std::count_if(tree.entries().begin(), tree.entries().end(), has_option) > kMostCommands;
}

using IsMeant = std::function<bool(std::string_view known)>;

// Hints for the words that are meant: of a command, else of at most kMostHints with such an option.
std::string hint_for(const CommandTree& tree, Arguments typed, const IsMeant& is_meant) {
  const auto is_any_meant = [&](std::string_view words) {
    const std::vector<std::string_view> all = split(words, ' ');
    return std::any_of(all.begin(), all.end(), [&](std::string_view one) { return !one.empty() && is_meant(one); });
  };
  for (const CommandTree::Entry& entry : tree.entries()) {
    const CommandInfo& info = entry.info();
    if (is_meant(info.name)) return fmt::format("{}: {}", command_line(info, typed), info.summary);
    for (const OtherName& other : info.other_names) {
      if (!is_any_meant(other.words)) continue;
      const std::string options = other.options.empty() ? "" : " " + std::string(other.options);
      return fmt::format("{}{}: {}", command_line(info, typed), options, info.summary);
    }
  }
  std::vector<std::string> hints;
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const Option& option : entry.options->options()) {
      if (option.use == OptionUse::kGeneral || option.is_argument() || hints.size() == kMostHints) continue;
      const std::string names = fmt::format("{} {}", fmt::join(option.long_names(), " "), option.other_names);
      if (is_any_meant(names) && !is_usual(tree, option.key()))
        hints.push_back(command_line(entry.info(), option, typed));
    }
  }
  return fmt::format("{}", fmt::join(hints, ", or "));
}

// For a part of the word, or another form of one: accuracy-compare, comparison.
std::string loose_hint(const CommandTree& tree, const std::string& word, Arguments typed) {
  const std::vector<std::string> words = word_and_parts(word);
  for (const std::string& one : words) {
    const CommandTree::Entry* const entry = tree.find(one);
    if (entry != nullptr) return fmt::format("{}: {}", command_line(entry->info(), typed), entry->info().summary);
  }
  for (const std::string& one : words) {
    const std::string hint = hint_for(tree, typed, [&](std::string_view known) { return have_same_stem(known, one); });
    if (!hint.empty()) return hint;
  }
  return {};
}

}  // namespace

std::string hint_for(const CommandTree& tree, std::string_view word, Arguments typed) {
  if (word == "version") return "msdump --version";
  return hint_for(tree, typed, [&](std::string_view known) { return known == word && tree.find(known) == nullptr; });
}

namespace {

// "net.py:12": a line of a script, as traces spell it.
bool is_script_line(std::string_view typed) {
  const size_t colon = typed.rfind(".py:");
  return colon != std::string_view::npos && colon + 4 < typed.size() && is_digit(typed[colon + 4]);
}

std::string hint_for_path(const CommandTree& tree, Arguments typed) {
  const bool are_two = typed.size() > 1 && !typed[1].starts_with('-') && is_path(typed[1]);
  const bool is_configuration = kind_of_name(std::filesystem::path(typed[0]).filename().string()) == FileKind::kConfig;
  const CommandInfo& info = tree.find(are_two ? "diff" : is_configuration ? "check-config" : "info")->info();
  return fmt::format("{}: {}", command_line(info, typed), info.summary);
}

UsageError option_before_command(const CommandTree& tree, Arguments arguments) {
  const std::string& option = arguments.front();
  const std::string text = fmt::format("unknown option '{}' before the command", option);
  for (size_t i = 1; i < arguments.size(); ++i) {
    const CommandTree::Entry* const entry = tree.find(arguments[i]);
    if (entry == nullptr) continue;
    std::vector<std::string> moved(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(i));
    moved.insert(moved.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
    return UsageError(text, command_line(entry->info(), moved) + ": options follow the command");
  }
  const std::string word = to_lower(option.substr(option.starts_with("--") ? 2 : 1));
  const bool is_dump = word == "d" || word == "dump";
  if (is_dump) return UsageError(text, command_line(tree.find("info")->info(), arguments));
  const CommandTree::Entry* const command = tree.find(word);
  if (command != nullptr) return UsageError(text, command_line(command->info(), arguments.subspan(1)));
  std::string hint = hint_for(tree, word, arguments.subspan(1));
  if (hint.empty() && !is_usual(tree, word)) hint = loose_hint(tree, word, arguments.subspan(1));
  return UsageError(text, hint.empty() ? fmt::format("options follow the command: msdump COMMAND {}", option) : hint);
}

// The nearest of the other names, for a misspelling of one. Short words are near to anything.
std::optional<std::string> nearest_other_name(const CommandTree& tree, const std::string& word) {
  if (word.size() < 4) return std::nullopt;
  std::vector<std::string> known;
  for (const CommandTree::Entry& entry : tree.entries()) {
    for (const OtherName& other : entry.info().other_names) {
      for (const std::string_view one : split(other.words, ' ')) known.emplace_back(one);
    }
  }
  return closest_match(word, known);
}

}  // namespace

UsageError unknown_command(const CommandTree& tree, std::span<const std::string> arguments) {
  const std::string& typed = arguments.front();
  if (typed.size() > 1 && typed[0] == '-') return option_before_command(tree, arguments);
  const std::string word = to_lower(typed), text = fmt::format("unknown command '{}'", typed);
  if (const std::string hint = hint_for(tree, word, arguments.subspan(1)); !hint.empty()) return UsageError(text, hint);
  if (is_script_line(typed))
    return UsageError(text + ", which is a line of a script", "msdump find-op --line " + shell_quoted(typed));
  if (is_path(typed)) return UsageError(text + ", which is a path", hint_for_path(tree, arguments));
  if (is_usual(tree, word)) return UsageError(text, "options follow the command: msdump COMMAND --" + word);
  if (typed.find('/') != std::string::npos) {
    const Error missing = missing_path(typed);
    return UsageError(fmt::format("{}, and {}", text, missing.message), missing.hint);
  }
  std::vector<std::string> names;
  for (const CommandTree::Entry& entry : tree.entries()) names.emplace_back(entry.info().name);
  const std::string all = "commands are " + join_words(names, "and");
  if (closest_match(typed, names)) return UsageError(unknown_word("command", typed, names), all);
  std::string hint = loose_hint(tree, word, arguments.subspan(1));
  if (const std::optional<std::string> near = nearest_other_name(tree, word); hint.empty() && near)
    hint = hint_for(tree, *near, arguments.subspan(1));
  return UsageError(text, hint.empty() ? all : hint);
}

std::string commands_with(const CommandTree& tree, const std::string& option) {
  std::vector<std::string> commands;
  for (const CommandTree::Entry& entry : tree.entries()) {
    const Option* const found = entry.options->find(option);
    if (found != nullptr && !found->is_argument()) commands.push_back(fmt::format("msdump {}", entry.info().name));
  }
  if (commands.empty()) return {};
  const bool is_long = std::ssize(commands) > kMostCommands;
  if (is_long) commands.resize(kMostCommands);
  return fmt::format("--{} is an option of {}{}", option, fmt::join(commands, ", "), is_long ? ", ..." : "");
}

}  // namespace msdump::cli
