#include "dump/index/catalogue.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"

namespace msdump {
namespace {

using Number = std::optional<int64_t> FolderIdentity::*;
using Name = std::string_view NameFacts::*;

std::set<int64_t> numbers_of(const DumpIndex& index, Number number) {
  std::set<int64_t> found;
  for (const IndexedFile& file : index.files()) {
    const auto& value = index.folders()[file.folder].identity.*number;
    if (file.family != nullptr && value) found.insert(*value);
  }
  return found;
}

bool any_matches(const DumpIndex& index, Name name, const std::string& glob) {
  return std::any_of(index.files().begin(), index.files().end(),
                     [&](const IndexedFile& file) { return glob_match(glob, file.facts.*name); });
}

// File names have '_' for the '/' of full names. People type either, and often the last part alone.
std::string nearest_name(const DumpIndex& index, Name name, std::string glob) {
  if (glob.find_first_of("*?") != std::string::npos) return {};
  std::replace(glob.begin(), glob.end(), '/', '_');
  std::set<std::string> distinct, endings;
  for (const IndexedFile& file : index.files()) {
    std::string text(file.facts.*name);
    if (text.empty()) continue;
    std::replace(text.begin(), text.end(), '/', '_');
    if (text.ends_with("_" + glob)) return "*" + glob;
    endings.insert(text.substr(text.rfind('_') + 1));
    distinct.insert(std::move(text));
  }
  if (auto near = closest_match(glob, std::vector<std::string>(distinct.begin(), distinct.end()))) return *near;
  if (auto near = closest_match(glob, std::vector<std::string>(endings.begin(), endings.end()))) return "*" + *near;
  // "Softmx" of "Softmax-op12".
  std::set<std::string> unnumbered;
  for (const std::string& ending : endings) unnumbered.insert(ending.substr(0, ending.rfind("-op")));
  const auto near = closest_match(glob, std::vector<std::string>(unnumbered.begin(), unnumbered.end()));
  return near ? "*" + *near + "-op*" : std::string();
}

}  // namespace

std::string near_miss(const DumpIndex& index, const SelectionOptions& options) {
  const auto name = [&](std::string_view option, Name field, const std::vector<std::string>& globs) {
    for (const std::string& glob : globs) {
      if (any_matches(index, field, glob)) continue;
      const std::string nearest = nearest_name(index, field, glob);
      if (!nearest.empty()) return fmt::format("did you mean {} '{}'?", option, escape_for_terminal(nearest));
      if (any_matches(index, &NameFacts::op_type, glob))
        return fmt::format("did you mean --op-type '{}'?", escape_for_terminal(glob));
    }
    return std::string();
  };
  const auto number = [&](std::string_view what, Number field, const std::string& typed) {
    if (typed.empty()) return std::string();
    const std::set<int64_t> there = numbers_of(index, field);
    if (there.empty()) return fmt::format("no folder or file here names a {}", what);
    return fmt::format("there {} {}{} {}", there.size() == 1 ? "is" : "are", what, there.size() == 1 ? "" : "s",
                       ranges_text(std::vector(there.begin(), there.end())));
  };
  for (std::string text :
       {name("--op-type", &NameFacts::op_type, options.op_type), name("--op", &NameFacts::op_name, options.op),
        number("rank", &FolderIdentity::rank, options.rank), number("graph", &FolderIdentity::graph, options.graph),
        number("step", &FolderIdentity::step, options.step)}) {
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace msdump
