#include "graph/join/tensor_groups.h"

#include <bit>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace msdump {
namespace {

namespace fs = std::filesystem;

bool agree(const std::optional<int64_t>& a, const std::optional<int64_t>& b) { return !a || !b || *a == *b; }

// The facts that separate tensors of one name.
struct Place {
  std::optional<int64_t> rank, graph, step;
  std::string_view home;
};

// The places of a dump's folders; folders of equal rank, graph and step share one, but never folders of two dumps.
class Places {
 public:
  Places(const DumpIndex& index, const OpGraph& graph) {
    bool by_step = false;
    std::set<std::string_view> homes;
    for (const Origin& origin : graph.origins()) {
      by_step = by_step || origin.step.has_value();
      if (!origin.home.empty()) homes.insert(origin.home);
    }
    std::map<
        std::tuple<uint32_t, std::string_view, std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>>,
        uint32_t>
        known;
    for (uint32_t i = 0; i < index.folders().size(); ++i) {
      const IndexedFolder& folder = index.folders()[i];
      const Place place{folder.identity.rank, folder.identity.graph, by_step ? folder.identity.step : std::nullopt,
                        homes.empty() ? std::string_view() : home_of(index.path_of_folder(i), homes)};
      const auto [at, added] = known.try_emplace({folder.root, place.home, place.rank, place.graph, place.step},
                                                 static_cast<uint32_t>(places_.size()));
      if (added) places_.push_back(place);
      of_folder_.push_back(at->second);
    }
  }

  [[nodiscard]] uint32_t of_folder(uint32_t folder) const { return of_folder_[folder]; }
  [[nodiscard]] const Place& operator[](uint32_t place) const { return places_[place]; }

 private:
  // The innermost.
  static std::string_view home_of(const std::string& folder, const std::set<std::string_view>& homes) {
    std::error_code ignored;
    std::string path = fs::absolute(folder, ignored).lexically_normal().string();
    for (;;) {
      if (const auto home = homes.find(path); home != homes.end()) return *home;
      const size_t slash = path.rfind('/');
      if (slash == std::string::npos || slash == 0) return {};
      path.resize(slash);
    }
  }

  std::vector<Place> places_;
  std::vector<uint32_t> of_folder_;
};

// Groups while they are found.
class GroupFinder {
 public:
  GroupFinder(std::vector<TensorGroup>& groups, size_t tensors) : groups_(groups), slots_(tensors / 4) {}

  uint32_t find_or_add(const TensorRecord& tensor, uint32_t place, const Place& what) {
    const bool parameter = tensor.name.op_type == "Parameter";
    if (last_ != kNoIndex && is(last_, place, parameter) && groups_[last_].op_name == tensor.name.op_name) return last_;
    name_.assign(tensor.name.op_name);
    const uint64_t hash = name_hash(name_.full());
    const auto same = [&](uint32_t group) {
      return is(group, place, parameter) && is_name(name_.full(), groups_[group].op_name);
    };
    last_ = slots_.find_or_add(hash ^ (uint64_t{place} << 33), static_cast<uint32_t>(groups_.size()), same);
    if (last_ == groups_.size()) {
      groups_.push_back(
          {what.rank, what.graph, what.step, tensor.name.op_type, tensor.name.op_name, what.home, parameter, 0, 0});
      keys_.push_back({hash, place});
    }
    return last_;
  }

  [[nodiscard]] uint64_t name_hash_of(uint32_t group) const { return keys_[group].name_hash; }
  [[nodiscard]] uint32_t place_of(uint32_t group) const { return keys_[group].place; }

 private:
  struct Key {
    uint64_t name_hash;
    uint32_t place;
  };
  [[nodiscard]] bool is(uint32_t group, uint32_t place, bool parameter) const {
    return keys_[group].place == place && groups_[group].parameter == parameter;
  }

  std::vector<TensorGroup>& groups_;
  std::vector<Key> keys_;
  HashSlots slots_;
  uint32_t last_ = kNoIndex;  // tensors of one operator are neighbours
  NormalName name_;
};

}  // namespace

TensorGroups::TensorGroups(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph) {
  const Places places(index, graph);
  GroupFinder finder(groups_, tensors.size());
  std::vector<uint32_t> group_of(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint32_t place = places.of_folder(index.files()[tensors[i].file].folder);
    group_of[i] = finder.find_or_add(tensors[i], place, places[place]);
    ++groups_[group_of[i]].count;
  }
  for (TensorGroup& group : groups_) {
    group.first = static_cast<uint32_t>(order_.size());
    order_.resize(order_.size() + std::exchange(group.count, 0));
  }
  for (RecordId i{0}; i < tensors.size(); ++i) {
    TensorGroup& group = groups_[group_of[i]];
    order_[group.first + group.count++] = i;
  }
  std::vector<bool> seen(index.folders().size());
  for (uint32_t i = 0; i < groups_.size(); ++i) {
    const uint32_t place = finder.place_of(i);
    if (groups_[i].parameter || seen[place]) continue;
    seen[place] = true;
    places_.push_back(i);
  }
  chain_names([&](uint32_t group) { return finder.name_hash_of(group); });
}

template <class HashOf>
void TensorGroups::chain_names(const HashOf& hash_of) {
  next_of_name_.assign(groups_.size(), kNoIndex);
  std::vector<uint32_t> last_of_name(groups_.size());
  by_name_ = HashSlots(groups_.size());
  for (uint32_t i = 0; i < groups_.size(); ++i) {
    const uint32_t first = by_name_.find_or_add(
        hash_of(i), i, [&](uint32_t group) { return same_name(groups_[i].op_name, groups_[group].op_name); });
    if (first != i) next_of_name_[last_of_name[first]] = i;
    last_of_name[first] = i;
  }
}

std::span<const RecordId> TensorGroups::tensors_of(const TensorGroup& group) const {
  return std::span(order_).subspan(group.first, group.count);
}

bool same_place(const Origin& origin, const TensorGroup& group) {
  const bool same_dump = origin.home.empty() || group.home.empty() || origin.home == group.home;
  return same_dump && agree(origin.rank, group.rank) && agree(origin.graph_id, group.graph) &&
         agree(origin.step, group.step);
}

}  // namespace msdump
