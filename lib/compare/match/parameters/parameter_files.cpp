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
#include "compare/match/parameters/parameter_names.h"
#include "compare/match/parameters/parameter_side.h"
#include "dump/names/checkpoint_path.h"
#include "io/dir_walk.h"

namespace msdump {
namespace {

using Number = std::optional<int64_t>;
using Keys = std::set<std::string_view>;

struct FilePlace {
  Number step, rank;
  std::string path;  // below the root
  std::string rest;  // without step and rank
};

struct Checkpoint {
  explicit Checkpoint(const DumpWithGraph& side);

  [[nodiscard]] std::set<int64_t> steps() const {
    std::set<int64_t> steps;
    for (const auto& [file, place] : files) {
      if (place.step) steps.insert(*place.step);
    }
    return steps;
  }
  [[nodiscard]] Keys keys() const {
    Keys keys;
    for (const TensorRecord& tensor : *dump.tensors) keys.insert(tensor.name.op_name);
    return keys;
  }

  const DumpWithGraph& dump;
  std::map<FileId, FilePlace> files;         // that are compared
  bool has_equal_keys = false;               // in two files of one step and rank
  std::map<std::string, std::string> names;  // of files, by FilePlace::rest; empty if they are no part of the names
  std::map<std::string, int64_t> first_layers;
};

Checkpoint::Checkpoint(const DumpWithGraph& side) : dump(side) {
  std::map<std::tuple<Number, Number, std::string_view>, FileId> first;
  for (const TensorRecord& tensor : *dump.tensors) {
    const auto [found, is_new] = files.try_emplace(tensor.file);
    FilePlace& place = found->second;
    if (is_new) {
      const FolderIdentity folder = place_of(*dump.index, tensor);
      place.step = folder.step;
      place.rank = folder.rank;
      const IndexedFile& file = dump.index->files()[tensor.file];
      const std::string_view checkpoint = checkpoint_of_array(file.shown_name());
      place.path = join_path(dump.index->folder_of(file), checkpoint.empty() ? file.name : checkpoint);
      place.rest = parse_checkpoint_path(place.path).rest;
    }
    const auto key = first.try_emplace({place.step, place.rank, tensor.name.op_name}, tensor.file).first;
    has_equal_keys = has_equal_keys || key->second != tensor.file;
  }
}

enum class Form : uint8_t { kWhole, kWithoutSuffix, kWithoutEnds };

std::vector<std::string> formed(std::vector<std::string> paths, Form form) {
  if (form == Form::kWhole) return paths;
  for (std::string& path : paths) {
    const size_t dot = path.rfind('.');
    if (dot != std::string::npos && path.find('/', dot) == std::string::npos) path.resize(dot);
    if (form == Form::kWithoutSuffix) continue;
    std::replace_if(
        path.begin(), path.end(), [](char c) { return c == '/' || c == '_' || c == '-'; }, '.');
  }
  return form == Form::kWithoutEnds ? short_names(paths) : paths;
}

size_t in_common(const Keys& a, const Keys& b) {
  return static_cast<size_t>(std::count_if(a.begin(), a.end(), [&](std::string_view key) { return b.contains(key); }));
}

std::string with_layer(std::string_view key, int64_t first) {
  const auto layer = first == 0 ? std::nullopt : layer_in(key);
  if (!layer) return std::string(key);
  const auto& [at, digits] = *layer;
  return fmt::format("{}{}{}", key.substr(0, at), parse_i64(digits).value_or(0) + first,
                     key.substr(at + digits.size()));
}

class FilesOfCheckpoints {
 public:
  FilesOfCheckpoints(const DumpWithGraph& a, const DumpWithGraph& b) : sides_{Checkpoint(a), Checkpoint(b)} {}

  Sides<ParameterFiles> run() {
    choose_steps();
    if (sides_.a.has_equal_keys || sides_.b.has_equal_keys) choose_names();
    const bool has_steps = has_several(&FilePlace::step), has_ranks = has_several(&FilePlace::rank);
    const auto text = [](bool is_used, Number number) {
      return is_used && number ? std::to_string(*number) : std::string();
    };
    for (const Side side : kBothSides) {
      Checkpoint& own = sides_[side];
      for (const auto& [file, place] : own.files) {
        result_[side].files[file] = {text(has_steps, place.step), text(has_ranks, place.rank), own.names[place.rest],
                                     place.path, own.first_layers[place.rest]};
      }
    }
    return std::move(result_);
  }

 private:
  using Paths = std::vector<std::string>;

  [[nodiscard]] bool has_several(Number FilePlace::*number) const {
    return std::any_of(kBothSides.begin(), kBothSides.end(), [&](Side side) {
      std::set<Number> numbers;
      for (const auto& [file, place] : sides_[side].files) numbers.insert(place.*number);
      return numbers.size() > 1;
    });
  }

  void choose_steps() {
    const Sides<std::set<int64_t>> all = {sides_.a.steps(), sides_.b.steps()};
    if (all.a.size() <= 1 && all.b.size() <= 1) return;
    std::vector<int64_t> common;
    std::set_intersection(all.a.begin(), all.a.end(), all.b.begin(), all.b.end(), std::back_inserter(common));
    for (const Side side : kBothSides) {
      const std::set<int64_t>& own = all[side];
      if (common.empty()) {
        result_[side].steps.assign(own.begin(), own.end());
      } else {
        std::set_difference(own.begin(), own.end(), common.begin(), common.end(),
                            std::back_inserter(result_[side].steps_alone));
      }
      std::erase_if(sides_[side].files, [&](const auto& one) {
        const Number step = one.second.step;
        return step &&
               (common.empty() ? *step != *own.begin() : !std::binary_search(common.begin(), common.end(), *step));
      });
    }
  }

  void choose_names() {
    Sides<Paths> rests, names;
    for (const Side side : kBothSides) {
      std::set<std::string> all;
      for (const auto& [file, place] : sides_[side].files) all.insert(place.rest);
      rests[side].assign(all.begin(), all.end());
    }
    size_t most = 0;
    for (const Form form : {Form::kWhole, Form::kWithoutSuffix, Form::kWithoutEnds}) {
      Sides<Paths> paths = {formed(rests.a, form), formed(rests.b, form)};
      const size_t common = in_common({paths.a.begin(), paths.a.end()}, {paths.b.begin(), paths.b.end()});
      if (common <= most && !names.a.empty()) continue;
      most = common;
      names = std::move(paths);
    }
    for (const Side side : kBothSides) {
      Checkpoint& own = sides_[side];
      const Checkpoint& other = sides_[opposite(side)];
      if (most == 0 && !own.has_equal_keys) continue;
      std::string compared;  // of several versions
      if (!other.has_equal_keys) {
        if (most == 0 && count_stages(own, other.keys())) continue;
        const auto named = std::find_first_of(names[side].begin(), names[side].end(), names[opposite(side)].begin(),
                                              names[opposite(side)].end());
        compared = named == names[side].end() ? file_like(own, other.keys())
                                              : rests[side][static_cast<size_t>(named - names[side].begin())];
        remove_versions(side, compared);
      }
      for (size_t i = 0; i < rests[side].size(); ++i) {
        if (most > 0 || rests[side][i] != compared) own.names.emplace(rests[side][i], names[side][i]);
      }
    }
  }

  // False if the files are no stages.
  static bool count_stages(Checkpoint& several, const Keys& wanted) {
    std::map<std::string, int64_t> layers;  // of each file
    for (const auto& [rest, keys] : keys_by_file(several)) {
      int64_t& count = layers[rest];
      for (const std::string_view key : keys) {
        if (const auto layer = layer_in(key)) count = std::max(count, parse_i64(layer->second).value_or(0) + 1);
      }
    }
    Paths order;
    for (const auto& [rest, count] : layers) order.push_back(rest);
    std::sort(order.begin(), order.end(), natural_less);
    std::map<std::string, int64_t> first;
    int64_t next = 0;
    for (const std::string& rest : order) {
      first[rest] = next;
      next += layers[rest];
    }
    std::set<std::tuple<Number, Number, std::string>> known;
    for (const TensorRecord& tensor : *several.dump.tensors) {
      const auto place = several.files.find(tensor.file);
      if (place == several.files.end()) continue;
      std::string name = with_layer(tensor.name.op_name, first[place->second.rest]);
      if (!wanted.contains(name)) return false;
      if (!known.emplace(place->second.step, place->second.rank, std::move(name)).second) return false;
    }
    several.first_layers = std::move(first);
    return true;
  }

  static std::map<std::string, Keys> keys_by_file(const Checkpoint& several) {
    std::map<std::string, Keys> keys;
    for (const TensorRecord& tensor : *several.dump.tensors) {
      const auto place = several.files.find(tensor.file);
      if (place != several.files.end()) keys[place->second.rest].insert(tensor.name.op_name);
    }
    return keys;
  }

  // The first with the most of these keys; empty if none has one.
  static std::string file_like(const Checkpoint& several, const Keys& wanted) {
    std::string best;
    size_t most = 0;
    for (const auto& [rest, own] : keys_by_file(several)) {
      const size_t common = in_common(own, wanted);
      if (common > most) best = rest;
      most = std::max(most, common);
    }
    return best;
  }

  // Leaves out the other versions of a file, which have the same keys.
  void remove_versions(Side side, const std::string& compared) {
    const std::map<std::string, Keys> keys = keys_by_file(sides_[side]);
    const auto wanted = keys.find(compared);
    if (wanted == keys.end()) return;
    std::erase_if(sides_[side].files, [&](const auto& one) {
      const FilePlace& place = one.second;
      const bool is_other =
          place.rest != compared && names_epoch(place.path) && keys.find(place.rest)->second == wanted->second;
      if (is_other) result_[side].alone.push_back(place.path);
      return is_other;
    });
  }

  Sides<Checkpoint> sides_;
  Sides<ParameterFiles> result_;
};

}  // namespace

std::string ParameterFile::name_of(std::string_view key, bool with_place) const {
  std::string full;
  for (const std::string* const part : {&step, &rank, &name}) {
    if (!part->empty() && (with_place || part == &name)) full.append(*part).append(".");
  }
  return full + with_layer(key, first_layer);
}

Sides<ParameterFiles> parameter_files(const DumpWithGraph& a, const DumpWithGraph& b) {
  return FilesOfCheckpoints(a, b).run();
}

}  // namespace msdump
