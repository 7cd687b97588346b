#include "compare/match/parameters/parameter_files.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "compare/match/parameters/parameter_side.h"

namespace msdump {
namespace {

using Paths = std::map<FileId, std::string>;

// The paths of the files, if two of them have the same key.
Paths paths_of(const DumpWithGraph& side) {
  Paths paths;
  std::map<std::string_view, FileId> keys;
  bool again = false;
  for (const TensorRecord& tensor : *side.tensors) {
    paths.try_emplace(tensor.file, side.index->relative_path_of(side.index->files()[tensor.file]));
    const FileId first = keys.try_emplace(tensor.name.op_name, tensor.file).first->second;
    again = again || first != tensor.file;
  }
  return again ? paths : Paths();
}

std::string without_suffix(const std::string& path) {
  const size_t dot = path.rfind('.');
  return dot == std::string::npos || path.find('/', dot) != std::string::npos ? path : path.substr(0, dot);
}

using Form = std::vector<std::string> (*)(const std::vector<std::string>& paths);

std::vector<std::string> as_they_are(const std::vector<std::string>& paths) { return paths; }

std::vector<std::string> without_suffixes(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  std::transform(paths.begin(), paths.end(), std::back_inserter(result), without_suffix);
  return result;
}

std::vector<std::string> without_ends(const std::vector<std::string>& paths) {
  std::vector<std::string> words = without_suffixes(paths);
  for (std::string& path : words) {
    std::replace_if(
        path.begin(), path.end(), [](char c) { return c == '/' || c == '_' || c == '-'; }, '.');
  }
  return short_names(words);
}

size_t in_common(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::set<std::string_view> known(a.begin(), a.end()), other(b.begin(), b.end());
  return static_cast<size_t>(
      std::count_if(known.begin(), known.end(), [&](std::string_view name) { return other.count(name) > 0; }));
}

}  // namespace

Sides<ParameterFiles> parameter_files(const DumpWithGraph& a, const DumpWithGraph& b) {
  Sides<ParameterFiles> files;
  if (!is_checkpoint(a) || !is_checkpoint(b)) return files;
  const Sides<Paths> all = {paths_of(a), paths_of(b)};
  if (all.a.empty() || all.b.empty()) return files;
  const auto list_of = [](const Paths& paths) {
    std::vector<std::string> list;
    for (const auto& [file, path] : paths) list.push_back(path);
    return list;
  };
  const Sides<std::vector<std::string>> paths = {list_of(all.a), list_of(all.b)};
  Sides<std::vector<std::string>> best;
  size_t most = 0;
  for (const Form form : {&as_they_are, &without_suffixes, &without_ends}) {
    Sides<std::vector<std::string>> names = {form(paths.a), form(paths.b)};
    const size_t common = in_common(names.a, names.b);
    if (common <= most && !best.a.empty()) continue;
    most = common;
    best = std::move(names);
  }
  if (most == 0) return files;
  for (const Side side : kBothSides) {
    size_t i = 0;
    for (const auto& [file, path] : all[side]) files[side].emplace(file, ParameterFile{best[side][i++], path});
  }
  return files;
}

}  // namespace msdump
