#include "frame/command_line.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <CLI/Version.hpp>

#include "base/text.h"
#include "frame/usage.h"
#include "io/dir_walk.h"

namespace msdump::cli {
namespace {

constexpr RefusedOption kNoOut{
    'o', "there is no option '-o'; it means two different things in this field",
    "results go to --out PATH; an output of an operator is chosen with --io output --slot K"};

// `-o`, `-o=1`, `-o1`; not `-output`, which is a misspelling of something else.
bool uses_letter(std::string_view token, char letter) {
  if (token.size() < 2 || token[0] != '-' || token[1] != letter) return false;
  return token.size() == 2 || token[2] == '=' || is_digit(token[2]);
}

class Scanner {
 public:
  Scanner(const std::vector<std::string>& arguments, const OptionNames& names, Command& command)
      : arguments_(arguments), names_(names), command_(command) {}

  Prepared scan() {
    while (at_ < arguments_.size()) {
      const std::string& token = arguments_[at_];
      if (token == "--") break;
      const bool is_option = token.size() > 1 && token[0] == '-';
      if (is_option && ignore()) continue;
      if (!is_option) {
        take(token);
      } else if (token[1] == '-') {
        take_long(token);
      } else {
        take_single_dash(token);
      }
    }
    for (; at_ < arguments_.size(); ++at_) prepared_.arguments.push_back(arguments_[at_]);
    return std::move(prepared_);
  }

 private:
  void take(const std::string& token) {
    prepared_.arguments.push_back(token);
    ++at_;
  }

  void take_with_value(const std::string& token) {
    take(token);
    if (at_ < arguments_.size()) take(arguments_[at_]);
  }

  bool ignore() {
    const size_t count = command_.ignored(std::span(arguments_).subspan(at_));
    at_ += count;
    return count > 0;
  }

  void take_long(const std::string& token) {
    const size_t equals = token.find('=');
    const std::string name = token.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (name == "help") prepared_.help = true;
    if (name == "version") prepared_.version = true;
    if (equals == std::string::npos && names_.takes_value(name)) {
      take_with_value(token);
    } else {
      take(token);
    }
  }

  void take_single_dash(const std::string& token) {
    const std::string name = token.substr(1, token.find('=') - 1);
    if (name.size() >= 2 && names_.has_long(name)) return take_long("-" + token);
    refuse(token);
    for (size_t i = 1; i < token.size(); ++i) {
      if (!names_.has_letter(token[i])) break;  // CLI11 reports it
      if (token[i] == 'h') prepared_.short_help = true;
      if (token[i] == 'V') prepared_.version = true;
      if (!names_.letter_takes_value(token[i])) continue;
      if (i + 1 == token.size()) return take_with_value(token);
      check_attached(token, token.substr(i + 1));
      break;
    }
    take(token);
  }

  void refuse(const std::string& token) {
    for (const RefusedOption& option : command_.refused()) {
      if (uses_letter(token, option.letter)) throw UsageError(std::string(option.message), std::string(option.hint));
    }
    if (uses_letter(token, kNoOut.letter) && !names_.has_letter(kNoOut.letter)) {
      throw UsageError(std::string(kNoOut.message), std::string(kNoOut.hint));
    }
  }

  // `-formt NCHW` would parse as `-f ormt`. An attached value that exists as a file is meant as one.
  void check_attached(const std::string& token, const std::string& value) const {
    const std::string word = "-" + token;
    const std::optional<std::string> near = closest_match(word, names_.spellings());
    if (!near || near->size() < 6 || path_kind(value) != PathKind::kMissing) return;
    throw UsageError(fmt::format("unknown option '{}'; did you mean '{}'?", token, *near));
  }

  const std::vector<std::string>& arguments_;
  const OptionNames& names_;
  Command& command_;
  size_t at_ = 0;
  Prepared prepared_;
};

}  // namespace

OptionNames::OptionNames(const OptionTable& options) {
  for (const Option& option : options.options()) {
    // An optional value is left to CLI11: what follows may also be an option.
    const bool takes_value = !option.value.is_flag() && option.value.kind() != OptionValue::Kind::kOptional;
    for (const std::string& name : option.long_names()) {
      long_names_[name] = takes_value;
      if (!option.group.empty()) spellings_.push_back("--" + name);
    }
    for (const std::string& letter : option.letters()) letters_[letter[0]] = takes_value;
    for (const std::string_view other : split(option.other_names, ' '))
      if (!other.empty()) translations_.emplace("--" + std::string(other), option.spelling());
  }
}

bool OptionNames::takes_value(const std::string& long_name) const {
  const std::map<std::string, bool>::const_iterator found = long_names_.find(long_name);
  return found != long_names_.end() && found->second;
}

bool OptionNames::letter_takes_value(char letter) const {
  const std::map<char, bool>::const_iterator found = letters_.find(letter);
  return found != letters_.end() && found->second;
}

std::optional<std::string> OptionNames::translated(const std::string& spelling) const {
  const std::map<std::string, std::string>::const_iterator found = translations_.find(to_lower(spelling));
  return found == translations_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> OptionNames::translated_part(const std::string& spelling) const {
  const std::vector<std::string> words = word_and_parts(to_lower(spelling.substr(2)));
  for (const std::string& word : words) {
    if (std::optional<std::string> found = translated("--" + word)) return found;
  }
  for (const std::string& word : words) {
    if (std::find(spellings_.begin(), spellings_.end(), "--" + word) != spellings_.end()) return "--" + word;
  }
  return std::nullopt;
}

Prepared prepare_arguments(const std::vector<std::string>& arguments, const OptionNames& names, Command& command) {
  return Scanner(arguments, names, command).scan();
}

namespace {

std::string see_help(const CLI::App& app) { return fmt::format("msdump {} --help lists the options", app.get_name()); }

std::optional<UsageError> unknown_option(const CLI::App& app, const OptionNames& names, const OptionHint& hint) {
  for (const std::string& token : app.remaining(true)) {
    if (token.size() < 2 || token[0] != '-' || token == "--") continue;
    const std::string typed = token.substr(0, token.find('='));
    // A single dash and several letters is meant as a long name.
    const std::string word = typed[1] == '-' ? typed : "-" + typed;
    const std::string elsewhere = hint ? hint(word.substr(2)) : "";
    std::optional<std::string> meant = names.translated(word);
    if (!meant && elsewhere.empty()) meant = closest_match(word, names.spellings());
    if (!meant && elsewhere.empty()) meant = names.translated_part(word);
    if (meant) return UsageError(fmt::format("unknown option '{}'; did you mean '{}'?", typed, *meant));
    return UsageError(fmt::format("unknown option '{}'", typed), elsewhere.empty() ? see_help(app) : elsewhere);
  }
  return std::nullopt;
}

// CLI11 puts the option first: "--out: 1 required TEXT missing".
std::string option_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  return text.substr(0, text.find_first_of(": "));
}

// Looks at the type of the error: the name that CLI11 gives an error is sometimes the command's.
UsageError usage_error_of(const CLI::ParseError& error, const CLI::App& app) {
  const std::string text = error.what(), option = option_of(error);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app.remaining(true);
    return UsageError(fmt::format("unexpected argument '{}'", extras.empty() ? "" : extras.front()), see_help(app));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool repeated = text.find("At Most") != std::string::npos;
    return UsageError(fmt::format("option '{}' {}", option, repeated ? "is given more than once" : "needs a value"));
  }
  return UsageError(text, see_help(app));
}

CLI::Option* declare_flag(CLI::App& app, const Option& option) {
  const OptionValue::Target& target = option.value.target();
  if (bool* const* const flag = std::get_if<bool*>(&target)) return app.add_flag(option.names, **flag);
  if (int* const* const count = std::get_if<int*>(&target)) return app.add_flag(option.names, **count);
  return app.add_flag_function(option.names,
                               [&chosen = std::get<std::function<void()>>(target)](int64_t) { chosen(); });
}

CLI::Option* declare(CLI::App& app, const Option& option) {
  using Kind = OptionValue::Kind;
  // CLI11 2.1.2 takes more than one argument only if it also splits "[a,b]" at commas (allow_extra_args), or up to the
  // number it expects. With take_all there may be fewer.
  constexpr int kMany = 1 << 20;
  if (option.value.is_flag()) return declare_flag(app, option);
  const auto& take = std::get<OptionValue::Take>(option.value.target());
  const Kind kind = option.value.kind();
  if (kind == Kind::kOne || kind == Kind::kOptional) {
    CLI::Option* const declared = app.add_option_function<std::string>(
        option.names, [&option, &take](const std::string& typed) { take(option, {typed}); });
    return kind == Kind::kOne ? declared : declared->expected(0, 1);
  }
  CLI::Option* const declared = app.add_option_function<std::vector<std::string>>(
      option.names, [&option, &take](const std::vector<std::string>& typed) { take(option, typed); });
  if (kind == Kind::kArguments) declared->expected(kMany)->take_all();
  if (option.value.delimiter() != '\0') declared->delimiter(option.value.delimiter());
  // Exactly one value each time: `--op A B` must not swallow the argument B, and a value "[x]" is not an array.
  return declared->allow_extra_args(false);
}

// CLI11's own tree of the options, for one command line.
class Parser {
 public:
  Parser(OptionTable& options, std::string_view command) : options_(options), app_("", std::string(command)) {
    app_.set_help_flag();  // --help is recognised before CLI11 parses
    for (const Option& option : options.options()) declared_.push_back(declare(app_, option));
  }

  void parse(std::vector<std::string> arguments, const OptionHint& hint) {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    const OptionNames names(options_);
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      throw unknown_option(app_, names, hint).value_or(usage_error_of(error, app_));
    } catch (const UsageError& error) {
      throw unknown_option(app_, names, hint).value_or(error);
    }
    for (size_t i = 0; i < declared_.size(); ++i) options_.options()[i].typed = declared_[i]->results();
  }

 private:
  OptionTable& options_;
  CLI::App app_;
  std::vector<CLI::Option*> declared_;  // by place in options_
};

}  // namespace

void parse_options(OptionTable& options, std::string_view command, std::vector<std::string> arguments,
                   const OptionHint& hint) {
  Parser(options, command).parse(std::move(arguments), hint);
}

// The message names two options that exclude each other in the order of their declaration.
void check_option_rules(const OptionTable& options) {
  const auto is_excluded_by = [&](const Option& one, const Option& other) -> const OptionRule* {
    for (const OptionRule& rule : one.excludes) {
      if (options.find(rule.name) == &other) return &rule;
    }
    return nullptr;
  };
  const std::vector<Option>& all = options.options();
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].has_effect()) continue;
    for (const OptionRule& rule : all[i].needs) {
      const Option* const needed = options.find(rule.name);
      if (needed != nullptr && !needed->has_effect())
        throw UsageError(fmt::format("option '{}' needs '{}'", all[i].spelling(), needed->spelling()),
                         std::string(rule.reason));
    }
    for (size_t other = i + 1; other < all.size(); ++other) {
      if (!all[other].has_effect()) continue;
      const OptionRule* rule = is_excluded_by(all[i], all[other]);
      if (rule == nullptr) rule = is_excluded_by(all[other], all[i]);
      if (rule != nullptr)
        throw UsageError(
            fmt::format("options '{}' and '{}' exclude each other", all[i].spelling(), all[other].spelling()),
            std::string(rule->reason));
    }
  }
}

std::string parser_version() { return "CLI11 " CLI11_VERSION; }

}  // namespace msdump::cli
