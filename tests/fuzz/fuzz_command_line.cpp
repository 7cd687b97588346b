// Any text as a command line, an argument per line, up to the point where the command would run; and as a list of paths
// on standard input.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/cli.h"
#include "frame/command_line.h"
#include "frame/usage.h"
#include "help/other_names.h"
#include "shared/dump_paths.h"

#include "fuzz_file.h"

namespace {

using namespace msdump;
using namespace msdump::cli;
using fuzz::require;

void check_command_line(const std::vector<std::string>& words) {
  const CommandTree tree;
  try {
    const CommandTree::Entry* const found = tree.find(words.front());
    if (found == nullptr) throw unknown_command(tree, words);
    const CommandTree::Entry& entry = *found;
    const OptionNames names(*entry.options);
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    const Prepared prepared = prepare_arguments(rest, names, *entry.command);
    require(prepared.arguments.size() <= rest.size(), "no argument is made up");
    const size_t before = prepared.arguments.size();
    const Prepared again = prepare_arguments(prepared.arguments, names, *entry.command);
    require(again.arguments.size() <= before, "preparing twice makes nothing up");
    if (prepared.help || prepared.short_help || prepared.version) return;
    parse_options(*entry.options, words.front(), prepared.arguments);
    check_option_rules(*entry.options);
  } catch (const UsageError& error) {
    require(!error.message().empty(), "a usage error says what is wrong");
  }
}

void check_list(std::string_view text) {
  const auto paths = paths_of_list(text);
  if (!paths) return require(!paths.error().message.empty(), "an error says something");
  const char separator = text.find('\0') == std::string_view::npos ? '\n' : '\0';
  size_t bytes = 0;
  for (const std::string& path : *paths) {
    require(!path.empty() && path.find(separator) == std::string::npos, "a path is neither empty nor two");
    bytes += path.size();
  }
  const auto separators = std::count(text.begin(), text.end(), separator);
  require(bytes + static_cast<size_t>(separators) == text.size(), "no byte of a list is lost");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  for (const std::string_view word : split(text, '\n')) words.emplace_back(word);
  check_command_line(words);
  check_list(text);
  return 0;
}
