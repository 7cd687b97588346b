#include "graph/operator_files.h"

#include <algorithm>
#include <utility>

#include "dump/layouts/family.h"

namespace msdump {
namespace {

// Opens each file once and completes its records.
class Completer {
 public:
  Completer(const DumpIndex& index, OperatorFiles& files) : index_(index), files_(files) {}

  void add(TensorRecord record, Detail detail) {
    const bool lacks_header = record.shape == nullptr && record.has_elements && !record.broken;
    if (detail == Detail::kHeaders && lacks_header) complete(record);
    files_.tensors.push_back(record);
  }

  // Records point into `shapes`, which has grown.
  void settle() {
    for (const auto& [tensor, shape] : own_shapes_) files_.tensors[tensor].shape = &files_.shapes[shape];
  }

 private:
  void complete(TensorRecord& record) {
    const auto opened = index_.open_tensor(index_.files()[record.file], record.item);
    if (!opened) return files_.failures.push_back(opened.error());
    const StoredTensor& stored = opened->tensors.front();
    record.name.dtype = stored.original_dtype.value_or(stored.request.dtype.value_or(DType::kUndefined));
    record.bytes = stored.bytes;
    if (!stored.request.shape) return;
    own_shapes_.emplace_back(files_.tensors.size(), files_.shapes.size());
    files_.shapes.push_back(*stored.request.shape);
  }

  const DumpIndex& index_;
  OperatorFiles& files_;
  std::vector<std::pair<size_t, size_t>> own_shapes_;
};

}  // namespace

OperatorFiles files_of(const OpenedGraph& opened, OpId op, Detail detail) {
  if (!opened.joined) return {};
  const FileJoin& join = opened.joined->join;
  std::vector<uint32_t> groups;
  for (const JoinPair& pair : join.pairs_of(op)) groups.push_back(pair.group);
  OperatorFiles files = files_of_groups(opened, groups, detail);
  if (!join.pairs_of(op).empty()) {
    files.confidence = join.pairs_of(op).front().confidence;
    files.rule = join.pairs_of(op).front().rule;
  }
  return files;
}

OperatorFiles files_of_groups(const OpenedGraph& opened, const std::vector<uint32_t>& groups, Detail detail) {
  OperatorFiles files;
  const FileJoin& join = opened.joined->join;
  const Catalogue& catalogue = *opened.catalogue;
  std::vector<uint32_t> places;
  for (const uint32_t group : groups) {
    for (const uint32_t place : join.tensors_of(join.groups()[group])) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  Completer completer(catalogue.index, files);
  for (const uint32_t place : places) {
    const TensorRecord& tensor = catalogue.list.tensors()[place];
    if (opened.selects(tensor)) completer.add(tensor, detail);
  }
  completer.settle();
  return files;
}

}  // namespace msdump
