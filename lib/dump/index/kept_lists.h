// The tensors of files that were opened lately, so that reading all tensors of a few large files in any order does not
// parse a header for each. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dump/layouts/stored_tensor.h"
#include "dump/names/file_kind.h"

namespace msdump {

struct IndexedFile;

class KeptLists {
 public:
  struct List {
    uint64_t size;  // of the file, which is read again when this or the next has changed
    int64_t mtime_ns;
    FileKind container;
    std::string op_name;
    std::vector<StoredTensor> tensors;
  };

  // `most`: tensors of all lists together, but for the last one that was added.
  explicit KeptLists(size_t most) : most_(most) {}

  [[nodiscard]] std::shared_ptr<const List> find(const IndexedFile& file);  // null for none
  // Takes the place of the file's list, and of those that were not asked for longest.
  void add(const IndexedFile& file, std::shared_ptr<const List> list);

 private:
  struct Kept {
    std::shared_ptr<const List> list;
    uint64_t used = 0;
  };

  const size_t most_;
  std::mutex mutex_;
  std::unordered_map<const IndexedFile*, Kept> lists_;
  size_t tensors_ = 0;
  uint64_t now_ = 0;
};

}  // namespace msdump
