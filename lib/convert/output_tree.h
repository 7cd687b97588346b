// OutputTree: the folders under OUT, made when the first file goes into them, and the mapping.csv of each.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "tables/mapping_csv.h"

namespace msdump {

class OutputTree {
 public:
  explicit OutputTree(std::string root) : root_(std::move(root)) {}

  // Makes OUT and finds out whether files can be made in it, before any work is done.
  Status create_root();
  // Makes `folder` (relative, as it is below the dump) unless it was made before. Thread-safe.
  Status create_folder(const std::string& folder);
  [[nodiscard]] std::string path_of(const std::string& relative) const;

  void add_mapping(const std::string& folder, std::string mapped, std::string original);
  // Adds what was collected to the mapping.csv of each folder; names of earlier runs stay.
  [[nodiscard]] std::vector<Error> write_mappings() const;

 private:
  std::string root_;
  std::mutex mutex_;
  std::set<std::string> made_;
  std::map<std::string, NameMapping> mappings_;
};

}  // namespace msdump
