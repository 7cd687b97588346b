// Parses the typed arguments into the options of a command. CLI11 does it; only the source of this header includes it.
//
//   prepare_arguments   rewrites what CLI11 cannot have. It has no single-dash long names (`-out` would be `-o ut`), which
//                       users of msaccucmp type: each `-xyz` or `-xyz=v` whose xyz is exactly a long name of the command
//                       gets its second dash. The value of a preceding option is left alone, and so is everything after
//                       a bare `--`.
//   parse_options       sets the variables of the options, with errors in our words and did-you-mean
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frame/subcommand.h"

namespace msdump::cli {

// The names of a command's options and whether each takes a value.
class OptionNames {
 public:
  explicit OptionNames(const OptionTable& options);
  [[nodiscard]] bool has_long(const std::string& name) const { return long_names_.contains(name); }
  [[nodiscard]] bool has_letter(char letter) const { return letters_.contains(letter); }
  [[nodiscard]] bool takes_value(const std::string& long_name) const;
  [[nodiscard]] bool letter_takes_value(char letter) const;
  // "--out", "--format", ...: candidates for did-you-mean; hidden options are not among them.
  [[nodiscard]] const std::vector<std::string>& spellings() const { return spellings_; }
  // "--report" for "--html", as other tools call it.
  [[nodiscard]] std::optional<std::string> translated(const std::string& spelling) const;
  // "--report" for "--output-html", "--json" for "--json-output": of which a part is known.
  [[nodiscard]] std::optional<std::string> translated_part(const std::string& spelling) const;

 private:
  std::map<std::string, bool> long_names_;
  std::map<char, bool> letters_;
  std::vector<std::string> spellings_;
  std::map<std::string, std::string> translations_;
};

struct Prepared {
  std::vector<std::string> arguments;
  bool help = false, short_help = false, version = false;  // --help, -h or --version is among the options
};

// A hint for an option, without dashes, that the command has not; empty for none.
using OptionHint = std::function<std::string(const std::string& name)>;

// Throws UsageError for a rejected option and for a single-dash word that is nearly a long name and would otherwise be
// split into `-f ormt`.
[[nodiscard]] Prepared prepare_arguments(const std::vector<std::string>& arguments, const OptionNames& names,
                                         Command& command);

// Throws UsageError. An unknown option causes most other complaints (its value becomes an argument), so it is reported
// first.
void parse_options(OptionTable& options, std::string_view command, std::vector<std::string> arguments,
                   const OptionHint& hint = {});
// Throws UsageError if parsed options exclude or need each other.
void check_option_rules(const OptionTable& options);

// "CLI11 2.1.2"
[[nodiscard]] std::string parser_version();

}  // namespace msdump::cli
