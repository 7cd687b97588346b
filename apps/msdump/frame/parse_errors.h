// CLI11's errors in our words, with did-you-mean for options.
#pragma once

#include <string>
#include <vector>

#include "frame/usage.h"

namespace CLI {
class App;
}

namespace msdump::cli {

class OptionNames;

// Always throws UsageError. An unknown option causes most other complaints (its value becomes a positional), so it is
// reported first.
void parse_options(CLI::App& app, const OptionNames& names, std::vector<std::string> arguments);

}  // namespace msdump::cli
