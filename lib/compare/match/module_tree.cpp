#include "compare/match/module_tree.h"

#include <algorithm>

#include "msprobe/construct_json.h"

namespace msdump {

ModuleTree ModuleTree::of(const DumpIndex& index) {
  ModuleTree tree;
  tree.read(index);
  return tree;
}

ModuleTree ModuleTree::of(const DumpIndex& reference, const DumpIndex& candidate) {
  ModuleTree tree = of(reference);
  tree.read(candidate);
  return tree;
}

void ModuleTree::read(const DumpIndex& index) {
  for (const IndexedFile& file : index.files()) {
    if (file.kind != FileKind::kDumpJson) continue;
    const std::string path = index.path_of(file);
    const size_t slash = path.rfind('/');
    const auto opened = File::open(path.substr(0, slash == std::string::npos ? 0 : slash + 1) + "construct.json");
    if (!opened) continue;  // extra_info false
    auto construct = read_construct_json(*opened);
    if (!construct) {
      const auto same = [&](const Error& known) { return known.path == construct.error().path; };
      if (std::none_of(problems_.begin(), problems_.end(), same)) problems_.push_back(construct.error());
      continue;
    }
    for (const ConstructJson::Node& node : construct->nodes) add(node.name, node.parent);
  }
}

std::string_view ModuleTree::parent_of(std::string_view name) const {
  const auto found = parents_.find(name);
  return found == parents_.end() ? std::string_view() : std::string_view(found->second);
}

void ModuleTree::add(std::string_view name, std::string_view parent) {
  if (!parent.empty()) parents_.try_emplace(std::string(name), parent);
}

}  // namespace msdump
