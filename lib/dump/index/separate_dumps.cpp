#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/containers.h"
#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/layouts/family.h"

namespace msdump {
namespace {

using Parts = std::vector<std::string_view>;

// The folders of a path that do not number a rank, graph or step.
Parts telling_parts(const IndexedFolder& folder) {
  if (folder.relative.empty()) return {};
  Parts parts = split(folder.relative, '/');
  const size_t above = parts.size() - std::min<size_t>(parts.size(), folder.identity.depth);
  parts.erase(std::remove_if(parts.begin() + static_cast<std::ptrdiff_t>(above), parts.end(), only_numbers),
              parts.end());
  return parts;
}

// A hash of the tensor or table that a file's name claims; 0 for none. Two folders with a claim in common are two dumps.
uint64_t claim_of(const IndexedFile& file) {
  if (file.family == nullptr) return 0;
  if (!file.family->has_elements()) return text_hash(file.shown_name());
  if (file.facts.op_name.empty()) return 0;
  uint64_t claim = mix_hash(text_hash(file.facts.op_name), text_hash(file.facts.op_type));
  claim = mix_hash(claim, text_hash(file.facts.slot));
  return mix_hash(claim, static_cast<uint64_t>(file.facts.io));
}

class SeparateDumps {
 public:
  SeparateDumps(std::vector<IndexedFolder>& folders, const std::vector<IndexedFile>& files) : folders_(folders) {
    for (const IndexedFolder& folder : folders_) parts_.push_back(telling_parts(folder));
    find_places(files);
    if (several_) find_conflicts(files);
  }

  std::vector<std::string> run() {
    if (conflicts_.empty()) return {};
    const auto place = common_place();
    const auto name_of = [&](uint32_t folder) {
      const Parts& parts = parts_[folder];
      if (!place) return join(parts);
      return *place < parts.size() ? std::string(parts[*place]) : std::string();
    };
    std::vector<std::string> dumps;
    for (uint32_t i = 0; i < folders_.size(); ++i) {
      if (has_claims_[i]) dumps.push_back(name_of(i));
    }
    std::sort(dumps.begin(), dumps.end(), natural_less);
    dumps.erase(std::unique(dumps.begin(), dumps.end()), dumps.end());
    for (uint32_t i = 0; i < folders_.size(); ++i) {
      const std::string name = name_of(i);
      const auto found = std::lower_bound(dumps.begin(), dumps.end(), name, natural_less);
      if (found != dumps.end() && *found == name)
        folders_[i].identity.dump = static_cast<uint32_t>(found - dumps.begin());
    }
    return dumps;
  }

 private:
  using Conflict = std::vector<uint32_t>;  // folders that make one claim

  struct Claimed {
    uint64_t claim = 0;
    uint32_t folder = 0;  // the first that makes it
    std::string_view timestamp;
    std::optional<uint32_t> conflict = {};
  };

  // True for files of one execution in a folder and in one inside it.
  [[nodiscard]] bool is_copy_inside(const Claimed& first, const IndexedFile& file) const {
    const Parts &a = parts_[first.folder], &b = parts_[file.folder];
    const auto same = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    return first.timestamp == file.facts.timestamp && !first.timestamp.empty() &&
           std::equal(a.begin(), a.begin() + same, b.begin());
  }

  static std::string join(const Parts& parts) {
    std::string text;
    for (const std::string_view part : parts) text.append(text.empty() ? "" : "/").append(part);
    return text;
  }

  // Numbers the places of folders with files: equal rank, graph and step below one path. Two dumps are possible only where the
  // folders of one place differ in their telling parts.
  void find_places(const std::vector<IndexedFile>& files) {
    std::vector<bool> has_files(folders_.size(), false);
    for (const IndexedFile& file : files) has_files[file.folder] = true;
    place_.resize(folders_.size());
    using Place = std::tuple<uint32_t, std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>>;
    std::map<Place, uint32_t> places;
    std::vector<uint32_t> first;
    for (uint32_t i = 0; i < folders_.size(); ++i) {
      if (!has_files[i]) continue;
      const FolderIdentity& identity = folders_[i].identity;
      const Place place{folders_[i].root, identity.rank, identity.graph, identity.step};
      const auto [found, is_new] = places.try_emplace(place, static_cast<uint32_t>(first.size()));
      if (is_new) first.push_back(i);
      place_[i] = found->second;
      several_ = several_ || parts_[first[found->second]] != parts_[i];
    }
  }

  void find_conflicts(const std::vector<IndexedFile>& files) {
    has_claims_.assign(folders_.size(), false);
    HashSlots slots(files.size());
    std::vector<Claimed> claims;
    std::vector<Conflict> conflicts;
    for (const IndexedFile& file : files) {
      const uint64_t name = claim_of(file);
      if (name == 0) continue;
      has_claims_[file.folder] = true;
      const uint64_t claim = mix_hash(name, place_[file.folder]);
      const uint32_t found = slots.find_or_add(claim, static_cast<uint32_t>(claims.size()),
                                               [&](uint32_t other) { return claims[other].claim == claim; });
      if (found == claims.size()) claims.push_back({claim, file.folder, file.facts.timestamp});
      Claimed& first = claims[found];
      if (parts_[first.folder] == parts_[file.folder] || is_copy_inside(first, file)) continue;
      if (!first.conflict) {
        first.conflict = static_cast<uint32_t>(conflicts.size());
        conflicts.push_back({first.folder});
      }
      Conflict& conflict = conflicts[*first.conflict];
      if (conflict.back() != file.folder) conflict.push_back(file.folder);
    }
    conflicts_ = {conflicts.begin(), conflicts.end()};
  }

  // The outermost folder of the paths in which all conflicting ones differ.
  [[nodiscard]] std::optional<size_t> common_place() const {
    size_t depth = SIZE_MAX;
    for (const Conflict& conflict : conflicts_) {
      for (const uint32_t folder : conflict) depth = std::min(depth, parts_[folder].size());
    }
    const auto differ = [&](const Conflict& conflict, size_t place) {
      std::map<std::string_view, uint32_t> by_part;
      return std::all_of(conflict.begin(), conflict.end(), [&](uint32_t folder) {
        const uint32_t first = by_part.try_emplace(parts_[folder][place], folder).first->second;
        return parts_[first] == parts_[folder];
      });
    };
    for (size_t place = 0; place < depth; ++place) {
      const auto differ_there = [&](const Conflict& conflict) { return differ(conflict, place); };
      if (std::all_of(conflicts_.begin(), conflicts_.end(), differ_there)) return place;
    }
    return std::nullopt;
  }

  std::vector<IndexedFolder>& folders_;
  std::vector<Parts> parts_;      // by folder
  std::vector<uint32_t> place_;   // by folder
  std::vector<bool> has_claims_;  // by folder
  bool several_ = false;
  std::set<Conflict> conflicts_;
};

}  // namespace

std::vector<std::string> number_dumps(std::vector<IndexedFolder>& folders, const std::vector<IndexedFile>& files) {
  return SeparateDumps(folders, files).run();
}

}  // namespace msdump
