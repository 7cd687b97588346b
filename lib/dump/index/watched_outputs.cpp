#include "dump/index/watched_outputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "dump/layouts/family.h"

namespace msdump {
namespace {

constexpr std::string_view kMark = "_To_";
constexpr size_t kMostMarks = 8;  // in one name; each costs a search

using TypedName = std::pair<std::string_view, std::string_view>;  // type, name

bool has_mark(const DumpedName& name) { return name.op_name.find(kMark) != std::string_view::npos; }

// The begin of the shortest name that follows a mark and is watched.
template <class Watched>
size_t split(const DumpedName& name, const Watched& is_watched) {
  size_t mark = name.op_name.rfind(kMark);
  for (size_t tried = 0; tried < kMostMarks && mark != std::string_view::npos; ++tried) {
    if (mark == 0) break;
    const size_t begin = mark + kMark.size();
    if (is_watched(name.op_type, name.op_name.substr(begin))) return begin;
    mark = name.op_name.rfind(kMark, mark - 1);
  }
  return kNotWatched;
}

std::vector<size_t> find_by_globs(std::span<const DumpedName> names, std::span<const std::string> watched) {
  const auto is_watched = [&](std::string_view, std::string_view name) {
    return std::any_of(watched.begin(), watched.end(), [&](const std::string& glob) { return glob_match(glob, name); });
  };
  std::vector<size_t> begins;
  for (const DumpedName& name : names) {
    const size_t begin = split(name, is_watched);
    begins.push_back(begin == kNotWatched && is_watched(name.op_type, name.op_name) ? 0 : begin);
  }
  return begins;
}

// Finds snapshots whose operator has a dumped output of its own.
std::vector<size_t> find_snapshots(std::span<const DumpedName> names, std::set<TypedName>& watched) {
  std::set<TypedName> all;
  for (const DumpedName& name : names) all.emplace(name.op_type, name.op_name);
  const auto is_dumped = [&](std::string_view type, std::string_view name) { return all.count({type, name}) > 0; };
  std::vector<size_t> begins;
  for (const DumpedName& name : names) {
    begins.push_back(split(name, is_dumped));
    if (begins.back() != kNotWatched) watched.emplace(name.op_type, name.op_name.substr(begins.back()));
  }
  return begins;
}

bool is_output(const TensorRecord& tensor) {
  return tensor.has_elements && !tensor.broken && tensor.name.io == Io::kOutput;
}

}  // namespace

std::vector<size_t> find_watched(std::span<const DumpedName> names, std::span<const std::string> watched) {
  if (!watched.empty()) return find_by_globs(names, watched);
  if (std::none_of(names.begin(), names.end(), has_mark)) return std::vector<size_t>(names.size(), kNotWatched);
  std::set<TypedName> operators;
  std::vector<size_t> begins = find_snapshots(names, operators);
  std::set<uint32_t> other_folders;
  for (size_t i = 0; i < names.size(); ++i) {
    if (begins[i] != kNotWatched) continue;
    if (operators.count({names[i].op_type, names[i].op_name}) > 0) {
      begins[i] = 0;
    } else {
      other_folders.insert(names[i].folder);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (other_folders.count(names[i].folder) > 0) begins[i] = kNotWatched;
  }
  return begins;
}

std::vector<WatchedOutput> watched_outputs(const DumpIndex& index, const std::vector<TensorRecord>& tensors,
                                           std::span<const std::string> watched) {
  std::vector<DumpedName> names;
  for (const TensorRecord& tensor : tensors)
    names.push_back({index.files()[tensor.file].folder, tensor.name.op_type, tensor.name.op_name});
  const std::vector<size_t> begins = find_watched(names, watched);
  using Key = std::tuple<uint32_t, std::string_view, std::string_view, std::string_view>;
  std::map<Key, size_t> places;
  std::vector<WatchedOutput> outputs;
  for (RecordId i{0}; i < tensors.size(); ++i) {
    if (begins[i] == kNotWatched || !is_output(tensors[i])) continue;
    const std::string_view op_name = names[i].op_name.substr(begins[i]), slot = tensors[i].name.slot;
    const size_t place =
        places.try_emplace({names[i].folder, names[i].op_type, op_name, slot}, outputs.size()).first->second;
    if (place == outputs.size()) outputs.push_back({op_name, slot, {}});
    const size_t after = begins[i] == 0 ? 0 : begins[i] - kMark.size();
    outputs[place].snapshots.push_back({i, names[i].op_name.substr(0, after)});
  }
  const auto order = [&](const WatchedOutput::Snapshot& one) {
    const NameFacts& name = tensors[one.tensor].name;
    return std::tuple(time_of(name), name.task_id.plain());
  };
  for (WatchedOutput& output : outputs) {
    std::stable_sort(output.snapshots.begin(), output.snapshots.end(),
                     [&](const auto& a, const auto& b) { return order(a) < order(b); });
  }
  return outputs;
}

WatcherFiles watcher_files(const DumpIndex& index) {
  std::vector<DumpedName> names;
  for (const IndexedFile& file : index.files()) {
    const bool tensors = file.family != nullptr && file.family->has_elements() && !file.by_content;
    if (tensors && !file.facts.op_name.empty()) names.push_back({file.folder, file.facts.op_type, file.facts.op_name});
  }
  const std::vector<size_t> begins = find_watched(names, {});
  WatcherFiles files;
  for (size_t i = 0; i < names.size(); ++i) {
    if (begins[i] == kNotWatched) continue;
    files.operators.insert(names[i].op_name.substr(begins[i]));
    files.snapshots += begins[i] > 0 ? 1U : 0U;
  }
  return files;
}

}  // namespace msdump
