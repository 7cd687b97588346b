#include "dump/table_join.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "io/dir_walk.h"

namespace msdump {
namespace {

constexpr std::string_view kTensorData = "dump_tensor_data";

// Newer tables keep the '/' that file names have as '_'.
std::string normal_name(std::string_view op_name) {
  std::string name(op_name);
  for (char& c : name) {
    if (c == '/' || c == '\\' || c == '.' || c == ' ') c = '_';
  }
  return name;
}

std::string key_of(uint32_t folder, const NameFacts& name) {
  const Io io = name.io == Io::kParameter ? Io::kOutput : name.io;
  return fmt::format("{}\n{}\n{}\n{}\n{}", folder, name.op_type, normal_name(name.op_name), name_of(io), name.slot);
}

class Joiner {
 public:
  Joiner(const DumpIndex& index, std::vector<TensorRecord>& tensors, const TableReferences& references)
      : index_(index), tensors_(tensors), references_(references), gone_(tensors.size(), false) {}

  void run() {
    // Rows come in the order of their table, which is that of time.
    for (const auto& [at, reference] : references_) {
      const size_t partner =
          reference.data_name.empty() ? partner_by_name(at) : partner_by_file(at, reference.data_name);
      if (partner != kNone) join(at, partner);
    }
    size_t kept = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!gone_[i]) tensors_[kept++] = tensors_[i];
    }
    tensors_.resize(kept);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  [[nodiscard]] uint32_t folder_of(const TensorRecord& tensor) const { return index_.files()[tensor.file].folder; }

  // Elements in folders that have a table, by what a row of it would say.
  void index_by_name() {
    std::vector<bool> has_rows(index_.folders().size(), false);
    for (const auto& [at, reference] : references_) {
      if (reference.data_name.empty()) has_rows[folder_of(tensors_[at])] = true;
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].has_elements && has_rows[folder_of(tensors_[i])])
        by_name_[key_of(folder_of(tensors_[i]), tensors_[i].name)].push_back(i);
    }
  }

  size_t partner_by_name(size_t row) {
    if (!indexed_by_name_) index_by_name();
    indexed_by_name_ = true;
    const auto found = by_name_.find(key_of(folder_of(tensors_[row]), tensors_[row].name));
    if (found == by_name_.end()) return kNone;
    size_t first = kNone;
    for (const size_t candidate : found->second) {
      if (tensors_[candidate].table != kNoTable) continue;
      if (tensors_[candidate].name.timestamp == tensors_[row].name.timestamp) return candidate;
      if (first == kNone) first = candidate;
    }
    return first;
  }

  void index_by_file() {
    std::unordered_map<std::string, uint32_t> folders;
    for (uint32_t i = 0; i < index_.folders().size(); ++i) {
      folders.emplace(fmt::format("{}\n{}", index_.folders()[i].root, index_.folders()[i].relative), i);
    }
    for (uint32_t i = 0; i < index_.folders().size(); ++i) {
      const IndexedFolder& folder = index_.folders()[i];
      const auto data = folders.find(fmt::format("{}\n{}", folder.root, join_path(folder.relative, kTensorData)));
      if (data != folders.end()) data_folder_.emplace(i, data->second);
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const TensorRecord& tensor = tensors_[i];
      if (!tensor.has_elements) continue;
      by_file_.emplace(fmt::format("{}\n{}", folder_of(tensor), index_.files()[tensor.file].name), i);
    }
  }

  size_t partner_by_file(size_t row, std::string_view data_name) {
    if (!indexed_by_file_) index_by_file();
    indexed_by_file_ = true;
    const auto folder = data_folder_.find(folder_of(tensors_[row]));
    if (folder == data_folder_.end()) return kNone;
    const auto found = by_file_.find(fmt::format("{}\n{}", folder->second, data_name));
    return found == by_file_.end() || tensors_[found->second].table != kNoTable ? kNone : found->second;
  }

  void join(size_t row_at, size_t tensor_at) {
    const TensorRecord& row = tensors_[row_at];
    TensorRecord& tensor = tensors_[tensor_at];
    tensor.table = row.table;
    tensor.row_offset = row.row_offset;
    tensor.order = row.order;
    if (row.name.dtype != DType::kUndefined) tensor.name.dtype = row.name.dtype;
    if (tensor.shape == nullptr) tensor.shape = row.shape;
    if (!tensor.bytes) tensor.bytes = row.bytes;
    gone_[row_at] = true;
  }

  const DumpIndex& index_;
  std::vector<TensorRecord>& tensors_;
  const TableReferences& references_;
  std::vector<bool> gone_;
  bool indexed_by_name_ = false, indexed_by_file_ = false;
  std::unordered_map<std::string, std::vector<size_t>> by_name_;
  std::unordered_map<std::string, size_t> by_file_;
  std::unordered_map<uint32_t, uint32_t> data_folder_;
};

}  // namespace

void join_tables(const DumpIndex& index, std::vector<TensorRecord>& tensors, const TableReferences& references) {
  if (!references.empty()) Joiner(index, tensors, references).run();
}

}  // namespace msdump
