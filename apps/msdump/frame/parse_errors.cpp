#include "frame/parse_errors.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "frame/argv.h"

namespace msdump::cli {
namespace {

std::string see_help(const CLI::App& app) { return fmt::format("msdump {} --help lists the options", app.get_name()); }

std::optional<UsageError> unknown_option(const CLI::App& app, const OptionNames& names) {
  for (const std::string& token : app.remaining(true)) {
    if (token.size() < 2 || token[0] != '-' || token == "--") continue;
    const std::string typed = token.substr(0, token.find('='));
    // A single dash and several letters is meant as a long name.
    const std::string word = typed[1] == '-' ? typed : "-" + typed;
    std::string text = unknown_word("option", word, names.spellings());
    if (word != typed) text.replace(text.find(word), word.size(), typed);
    const bool guessed = text.find("did you mean") != std::string::npos;
    return UsageError(text, guessed ? "" : see_help(app));
  }
  return std::nullopt;
}

// CLI11 puts the option first: "--out: 1 required TEXT missing", "--out is required".
std::string option_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  return text.substr(0, text.find_first_of(": "));
}

UsageError usage_error_of(const CLI::ParseError& error, const CLI::App& app, const OptionNames& names) {
  if (std::optional<UsageError> unknown = unknown_option(app, names)) return *unknown;
  // By type: the name that CLI11 gives an error is sometimes the command's.
  const std::string text = error.what(), option = option_of(error);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app.remaining(true);
    return UsageError(fmt::format("unexpected argument '{}'", extras.empty() ? "" : extras.front()), see_help(app));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return UsageError(fmt::format("option '{}' is required", option), see_help(app));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool repeated = text.find("At Most") != std::string::npos;
    return UsageError(fmt::format("option '{}' {}", option, repeated ? "is given more than once" : "needs a value"));
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const std::string other = text.substr(text.rfind(' ') + 1);
    return UsageError(fmt::format("options '{}' and '{}' exclude each other", option, other));
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    const std::string other = text.substr(text.rfind(' ') + 1);
    return UsageError(fmt::format("option '{}' needs '{}'", option, other));
  }
  return UsageError(text, see_help(app));
}

}  // namespace

void parse_options(CLI::App& app, const OptionNames& names, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    throw usage_error_of(error, app, names);
  } catch (const UsageError& error) {
    throw unknown_option(app, names).value_or(error);
  }
}

}  // namespace msdump::cli
