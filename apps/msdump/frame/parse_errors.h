// Every way in which CLI11 says no, in our own words.
#pragma once

#include "frame/usage.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace msdump::cli {

class OptionNames;

// An option that is not known is the cause of most other complaints (its value becomes a positional, what it was meant to
// give is missing), so it is looked for first whatever CLI11 complained about.
[[nodiscard]] UsageError usage_error_of(const CLI::ParseError& error, const CLI::App& app, const OptionNames& names);

// The same for an error of our own that a later option may have caused.
[[nodiscard]] UsageError usage_error_of(const UsageError& error, const CLI::App& app, const OptionNames& names);

}  // namespace msdump::cli
