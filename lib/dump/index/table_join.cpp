#include "dump/index/table_join.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/hash_slots.h"
#include "io/dir_walk.h"

namespace msdump {
namespace {

constexpr std::string_view kTensorData = "dump_tensor_data";

// Newer tables keep the '/' that file names have as '_'.
constexpr char normal(char c) { return c == '/' || c == '\\' || c == '.' || c == ' ' ? '_' : c; }

bool same_op_name(std::string_view a, std::string_view b) {
  return a == b ||
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return normal(x) == normal(y); });
}

// Parameters are outputs in tables of older versions.
Io plain_io(Io io) { return io == Io::kParameter ? Io::kOutput : io; }

class Joiner {
 public:
  Joiner(const DumpIndex& index, std::vector<TensorRecord>& tensors, const std::vector<TableReference>& references)
      : index_(index), tensors_(tensors), references_(references), gone_(tensors.size(), false) {}

  void run() {
    // Rows come in the order of their table, which is that of time.
    for (const auto& [at, data_name] : references_) {
      const size_t partner = data_name.empty() ? partner_by_name(at) : partner_by_file(at, data_name);
      if (partner != kNone) join(at, partner);
      tensors_[at].lost_file = partner == kNone && !data_name.empty();
    }
    if (std::find(gone_.begin(), gone_.end(), true) == gone_.end()) return;
    size_t kept = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!gone_[i]) tensors_[kept++] = tensors_[i];
    }
    tensors_.resize(kept);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  // Elements of one name, in the order of the index; those before `open` have their row.
  struct Named {
    std::vector<size_t> tensors;
    size_t open = 0;
    std::unordered_map<std::string_view, std::vector<size_t>> by_time;  // the last one first; made on demand
  };

  [[nodiscard]] uint32_t folder_of(const TensorRecord& tensor) const { return index_.files()[tensor.file].folder; }

  uint64_t hash_of(size_t at) {
    const NameFacts& name = tensors_[at].name;
    normal_name_.assign(name.op_name);
    std::transform(normal_name_.begin(), normal_name_.end(), normal_name_.begin(), normal);
    uint64_t hash = mix_hash(text_hash(normal_name_), folder_of(tensors_[at]));
    for (const std::string_view text : {name.op_type, name.slot}) hash = mix_hash(hash, text_hash(text));
    return mix_hash(hash, static_cast<uint64_t>(plain_io(name.io)));
  }

  auto same_name_as(size_t at) const {
    return [this, at](uint32_t other) {
      const TensorRecord &x = tensors_[at], &y = tensors_[named_[other].tensors.front()];
      return folder_of(x) == folder_of(y) && plain_io(x.name.io) == plain_io(y.name.io) && x.name.slot == y.name.slot &&
             x.name.op_type == y.name.op_type && same_op_name(x.name.op_name, y.name.op_name);
    };
  }

  // Elements in folders that have a table, by the values that a row about them has.
  void index_by_name() {
    std::vector<bool> has_rows(index_.folders().size(), false);
    for (const auto& [at, data_name] : references_) {
      if (data_name.empty()) has_rows[folder_of(tensors_[at])] = true;
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (!tensors_[i].has_elements || !has_rows[folder_of(tensors_[i])]) continue;
      const uint32_t found = by_name_.find_or_add(hash_of(i), static_cast<uint32_t>(named_.size()), same_name_as(i));
      if (found == named_.size()) named_.emplace_back();
      named_[found].tensors.push_back(i);
    }
  }

  size_t partner_by_name(size_t row) {
    if (!indexed_by_name_) index_by_name();
    indexed_by_name_ = true;
    if (named_.empty()) return kNone;
    const uint32_t found = by_name_.find(hash_of(row), same_name_as(row));
    if (found == HashSlots::kNone) return kNone;
    Named& named = named_[found];
    const auto is_taken = [&](size_t candidate) { return tensors_[candidate].table != kNoTable; };
    while (named.open < named.tensors.size() && is_taken(named.tensors[named.open])) ++named.open;
    if (named.open == named.tensors.size()) return kNone;
    const size_t of_time = named.tensors.size() == 1 ? kNone : partner_by_time(named, row);
    return of_time == kNone ? named.tensors[named.open] : of_time;
  }

  // The first remaining one with the time stamp of the row.
  size_t partner_by_time(Named& named, size_t row) {
    if (named.by_time.empty()) {
      for (size_t i = named.tensors.size(); i-- > named.open;)
        named.by_time[tensors_[named.tensors[i]].name.timestamp].push_back(named.tensors[i]);
    }
    const auto of_time = named.by_time.find(tensors_[row].name.timestamp);
    if (of_time == named.by_time.end()) return kNone;
    std::vector<size_t>& left = of_time->second;
    while (!left.empty() && tensors_[left.back()].table != kNoTable) left.pop_back();
    return left.empty() ? kNone : left.back();
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
    tensor.distribution = row.distribution;
    if (row.name.dtype != DType::kUndefined) tensor.name.dtype = row.name.dtype;
    if (tensor.shape == nullptr) tensor.shape = row.shape;
    if (!tensor.bytes) tensor.bytes = row.bytes;
    gone_[row_at] = true;
  }

  const DumpIndex& index_;
  std::vector<TensorRecord>& tensors_;
  const std::vector<TableReference>& references_;
  std::vector<bool> gone_;
  bool indexed_by_name_ = false, indexed_by_file_ = false;
  HashSlots by_name_;
  std::vector<Named> named_;
  std::string normal_name_;
  std::unordered_map<std::string, size_t> by_file_;
  std::unordered_map<uint32_t, uint32_t> data_folder_;
};

}  // namespace

void join_tables(const DumpIndex& index, std::vector<TensorRecord>& tensors,
                 const std::vector<TableReference>& references) {
  if (!references.empty()) Joiner(index, tensors, references).run();
}

}  // namespace msdump
