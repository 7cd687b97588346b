// ModuleTree: the module that each operator of msprobe ran in, by construct.json (msprobe/construct_json.h).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dump/index/dump_index.h"

namespace msdump {

class ModuleTree {
 public:
  ModuleTree() = default;
  // Reads the construct.json beside each dump.json. Errors are in problems().
  static ModuleTree of(const DumpIndex& index);
  // The reference's tree, with the entries that only the candidate has: an operator that was added is in a module, too.
  static ModuleTree of(const DumpIndex& reference, const DumpIndex& candidate);

  [[nodiscard]] std::string_view parent_of(std::string_view name) const;  // empty: none
  [[nodiscard]] bool empty() const { return parents_.empty(); }
  [[nodiscard]] const std::vector<Error>& problems() const { return problems_; }

  void add(std::string_view name, std::string_view parent);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  void read(const DumpIndex& index);

  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> parents_;
  std::vector<Error> problems_;
};

}  // namespace msdump
