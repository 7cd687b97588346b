#include "compare/match/parameters/parameter_files.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/parameters/parameter_side.h"
#include "dump/names/checkpoint_path.h"

namespace msdump {
namespace {

using Number = std::optional<int64_t>;

struct FilePlace {
  Number step, rank;
  std::string path;         // below the root
  std::string rest;         // without step and rank
  bool is_several = false;  // a file of this step and rank has one of its keys, too
};

using Places = std::map<FileId, FilePlace>;

Places places_of(const DumpWithGraph& side) {
  Places places;
  std::map<std::tuple<Number, Number, std::string_view>, FileId> keys;
  bool is_several = false;
  for (const TensorRecord& tensor : *side.tensors) {
    const auto [found, is_new] = places.try_emplace(tensor.file);
    FilePlace& place = found->second;
    if (is_new) {
      const FolderIdentity folder = place_of(*side.index, tensor);
      place.step = folder.step;
      place.rank = folder.rank;
      place.path = side.index->relative_path_of(side.index->files()[tensor.file]);
      place.rest = parse_checkpoint_path(place.path).rest;
    }
    const FileId first = keys.try_emplace({place.step, place.rank, tensor.name.op_name}, tensor.file).first->second;
    is_several = is_several || first != tensor.file;
  }
  for (auto& [file, place] : places) place.is_several = is_several;
  return places;
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

using Names = std::map<std::string, std::string>;  // of files, by their paths without step and rank
using Layers = std::map<std::string, int64_t>;     // the first layer of each file

// The number of a layer in a key: its first component of digits.
std::optional<std::pair<size_t, std::string_view>> layer_in(std::string_view key) {
  for (const std::string_view part : split(key, '.')) {
    if (is_digits(part) && part.size() < 10) return std::pair(static_cast<size_t>(part.data() - key.data()), part);
  }
  return std::nullopt;
}

std::string with_layer(std::string_view key, int64_t first) {
  const auto layer = first == 0 ? std::nullopt : layer_in(key);
  if (!layer) return std::string(key);
  const auto& [at, digits] = *layer;
  return fmt::format("{}{}{}", key.substr(0, at), parse_i64(digits).value_or(0) + first,
                     key.substr(at + digits.size()));
}

// The first layers of stages; empty if the files are none.
Layers stages_of(const DumpWithGraph& several, const Places& places, const DumpWithGraph& once) {
  std::map<std::string, int64_t> counts;  // layers
  for (const TensorRecord& tensor : *several.tensors) {
    const auto place = places.find(tensor.file);
    if (place == places.end()) continue;
    int64_t& count = counts[place->second.rest];
    if (const auto layer = layer_in(tensor.name.op_name))
      count = std::max(count, parse_i64(layer->second).value_or(0) + 1);
  }
  std::vector<std::string> order;
  for (const auto& [rest, count] : counts) order.push_back(rest);
  std::sort(order.begin(), order.end(), natural_less);
  Layers first;
  int64_t next = 0;
  for (const std::string& rest : order) {
    first[rest] = next;
    next += counts[rest];
  }
  std::set<std::string_view> keys;
  for (const TensorRecord& tensor : *once.tensors) keys.insert(tensor.name.op_name);
  std::set<std::tuple<Number, Number, std::string>> known;
  for (const TensorRecord& tensor : *several.tensors) {
    const auto place = places.find(tensor.file);
    if (place == places.end()) continue;
    std::string name = with_layer(tensor.name.op_name, first[place->second.rest]);
    if (!keys.contains(name) || !known.emplace(place->second.step, place->second.rank, std::move(name)).second)
      return {};
  }
  return first;
}

// Of several versions, that which is compared with a side whose files have each key once, and the others.
struct Versions {
  std::string compared;  // `named`, or else the first with the most keys in common; empty if there is none
  std::set<std::string> others;
};

Versions versions_of(const DumpWithGraph& several, const Places& places, const DumpWithGraph& once,
                     const std::string& named) {
  using Keys = std::set<std::string_view>;
  Keys wanted;
  for (const TensorRecord& tensor : *once.tensors) wanted.insert(tensor.name.op_name);
  std::map<std::string, Keys> keys;
  for (const TensorRecord& tensor : *several.tensors) {
    const auto place = places.find(tensor.file);
    if (place != places.end()) keys[place->second.rest].insert(tensor.name.op_name);
  }
  Versions versions;
  size_t most = 0;
  for (const auto& [rest, own] : keys) {
    const auto common = static_cast<size_t>(
        std::count_if(own.begin(), own.end(), [&](std::string_view key) { return wanted.contains(key); }));
    if (rest != named && (common <= most || !named.empty())) continue;
    most = common;
    versions.compared = rest;
  }
  for (const auto& [rest, own] : keys) {
    const bool is_version = parse_checkpoint_path(rest).has_epoch && own == keys[versions.compared];
    if (is_version && rest != versions.compared) versions.others.insert(rest);
  }
  return versions;
}

// Empty if the files are no part of the names. Removes the files of versions that are not compared.
Sides<Names> names_of(const Sides<const DumpWithGraph*>& dumps, Sides<Places>& places, Sides<Layers>& layers,
                      Sides<ParameterFiles>& files) {
  Sides<std::vector<std::string>> rests, best;
  Sides<bool> is_several = {false, false};
  for (const Side side : kBothSides) {
    std::set<std::string> all;
    for (const auto& [file, place] : places[side]) {
      all.insert(place.rest);
      is_several[side] = is_several[side] || place.is_several;
    }
    rests[side].assign(all.begin(), all.end());
  }
  Sides<Names> names;
  if (!is_several.a && !is_several.b) return names;
  size_t most = 0;
  for (const Form form : {&as_they_are, &without_suffixes, &without_ends}) {
    Sides<std::vector<std::string>> formed = {form(rests.a), form(rests.b)};
    const size_t common = in_common(formed.a, formed.b);
    if (common <= most && !best.a.empty()) continue;
    most = common;
    best = std::move(formed);
  }
  for (const Side side : kBothSides) {
    if (most == 0 && !is_several[side]) continue;
    Versions versions;
    if (!is_several[opposite(side)]) {
      if (most == 0) layers[side] = stages_of(*dumps[side], places[side], *dumps[opposite(side)]);
      if (!layers[side].empty()) continue;
      const auto named = std::find_first_of(best[side].begin(), best[side].end(), best[opposite(side)].begin(),
                                            best[opposite(side)].end());
      versions =
          versions_of(*dumps[side], places[side], *dumps[opposite(side)],
                      named == best[side].end() ? "" : rests[side][static_cast<size_t>(named - best[side].begin())]);
      std::erase_if(places[side], [&](const auto& one) {
        const bool is_other = versions.others.contains(one.second.rest);
        if (is_other) files[side].alone.push_back(one.second.path);
        return is_other;
      });
    }
    for (size_t i = 0; i < rests[side].size(); ++i) {
      if (most > 0 || rests[side][i] != versions.compared) names[side].emplace(rests[side][i], best[side][i]);
    }
  }
  return names;
}

std::set<int64_t> steps_of(const Places& places) {
  std::set<int64_t> steps;
  for (const auto& [file, place] : places) {
    if (place.step) steps.insert(*place.step);
  }
  return steps;
}

// Removes the files of versions that are not compared.
void choose_versions(Sides<Places>& places, Sides<ParameterFiles>& files) {
  const Sides<std::set<int64_t>> all = {steps_of(places.a), steps_of(places.b)};
  if (all.a.size() <= 1 && all.b.size() <= 1) return;
  std::set<int64_t> common;
  std::set_intersection(all.a.begin(), all.a.end(), all.b.begin(), all.b.end(), std::inserter(common, common.end()));
  for (const Side side : kBothSides) {
    const std::set<int64_t>& own = all[side];
    if (own.empty()) continue;
    const std::set<int64_t> compared = common.empty() ? std::set{*own.begin()} : common;
    std::vector<int64_t>& told = common.empty() ? files[side].steps : files[side].steps_alone;
    std::copy_if(own.begin(), own.end(), std::back_inserter(told),
                 [&](int64_t step) { return common.empty() || !compared.contains(step); });
    std::erase_if(places[side],
                  [&](const auto& one) { return one.second.step && !compared.contains(*one.second.step); });
  }
}

}  // namespace

std::string ParameterFile::name_of(std::string_view key, bool with_place) const {
  std::string full;
  for (const std::string* const part : {&step, &rank, &name}) {
    if (!part->empty() && (with_place || part == &name)) full.append(*part).append(".");
  }
  return full + with_layer(key, first_layer);
}

Sides<ParameterFiles> parameter_files(const DumpWithGraph& a, const DumpWithGraph& b) {
  Sides<ParameterFiles> result;
  Sides<Places> places = {places_of(a), places_of(b)};
  choose_versions(places, result);
  Sides<Layers> layers;
  const Sides<Names> names = names_of({&a, &b}, places, layers, result);
  const auto several = [&](Number FilePlace::*number) {
    return std::any_of(kBothSides.begin(), kBothSides.end(), [&](Side side) {
      std::set<Number> numbers;
      for (const auto& [file, place] : places[side]) numbers.insert(place.*number);
      return numbers.size() > 1;
    });
  };
  const bool has_steps = several(&FilePlace::step), has_ranks = several(&FilePlace::rank);
  const auto text = [](bool is_used, Number number) {
    return is_used && number ? std::to_string(*number) : std::string();
  };
  for (const Side side : kBothSides) {
    for (const auto& [file, place] : places[side]) {
      const auto name = names[side].find(place.rest);
      const auto first = layers[side].find(place.rest);
      ParameterFile& known = result[side].files[file];
      known = {text(has_steps, place.step), text(has_ranks, place.rank), {}, place.path};
      if (name != names[side].end()) known.name = name->second;
      if (first != layers[side].end()) known.first_layer = first->second;
    }
  }
  return result;
}

}  // namespace msdump
