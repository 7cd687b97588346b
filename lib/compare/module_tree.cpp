#include "compare/module_tree.h"

#include <utility>

#include "msprobe/construct_json.h"

namespace msdump {

ModuleTree ModuleTree::of(const DumpIndex& index) {
  ModuleTree tree;
  for (const IndexedFile& file : index.files()) {
    if (file.kind != FileKind::kDumpJson) continue;
    const std::string path = index.path_of(file);
    const size_t slash = path.rfind('/');
    const auto opened = File::open(path.substr(0, slash == std::string::npos ? 0 : slash + 1) + "construct.json");
    if (!opened) continue;  // extra_info false
    auto construct = read_construct_json(*opened);
    if (!construct) {
      tree.problems_.push_back(construct.error());
      continue;
    }
    for (const ConstructJson::Node& node : construct->nodes) tree.add(std::string(node.name), std::string(node.parent));
  }
  return tree;
}

std::string_view ModuleTree::parent_of(std::string_view name) const {
  const auto found = parents_.find(name);
  return found == parents_.end() ? std::string_view() : std::string_view(found->second);
}

void ModuleTree::add(std::string name, std::string parent) {
  if (!parent.empty()) parents_.try_emplace(std::move(name), std::move(parent));
}

}  // namespace msdump
