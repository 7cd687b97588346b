#include "dump/list_order.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/text.h"

namespace msdump {
namespace {

constexpr uint64_t kNoTime = UINT64_MAX;  // comes last

// A time stamp as a number that sorts.
uint64_t time_of(const TensorRecord& tensor) { return parse_u64(tensor.name.timestamp).value_or(kNoTime); }

// Folders by rank, graph and step, what is not known behind what is; those that say the same share a number, but never
// folders of two dumps given together.
std::vector<uint32_t> places_of(const DumpIndex& index) {
  const auto key = [](const IndexedFolder& folder) {
    const auto known = [](const std::optional<int64_t>& number) { return std::pair(!number, number.value_or(0)); };
    return std::tuple(known(folder.identity.rank), known(folder.identity.graph), known(folder.identity.step),
                      folder.root);
  };
  std::map<decltype(key(index.folders()[0])), uint32_t> places;
  for (const IndexedFolder& folder : index.folders()) places.emplace(key(folder), 0);
  uint32_t next = 0;
  for (auto& [identity, place] : places) place = next++;
  std::vector<uint32_t> result;
  for (const IndexedFolder& folder : index.folders()) result.push_back(places.at(key(folder)));
  return result;
}

// Texts as numbers: equal texts have equal numbers.
class TextIds {
 public:
  uint64_t id(std::string_view text) { return ids_.emplace(text, ids_.size()).first->second; }

 private:
  std::unordered_map<std::string_view, uint64_t> ids_;
};

struct IdsHash {
  size_t operator()(const std::array<uint64_t, 4>& ids) const {
    uint64_t hash = 0x9E37'79B9'7F4A'7C15;
    for (const uint64_t id : ids) hash = (hash ^ id) * 0xFF51'AFD7'ED55'8CCD, hash ^= hash >> 32;
    return hash;
  }
};

struct Key {
  uint32_t place, order;
  uint64_t time;  // first of the operator's run
  uint32_t tensor;
};

// Of one slot of an operator.
struct Runs {
  uint32_t count = 0;
  uint64_t last = kNoTime;
};

bool by_slot(const TensorRecord& a, const TensorRecord& b) {
  if (a.name.io != b.name.io) return a.name.io < b.name.io;
  return a.name.slot != b.name.slot && natural_less(a.name.slot, b.name.slot);
}

}  // namespace

void sort_tensors(const DumpIndex& index, std::vector<TensorRecord>& tensors) {
  const std::vector<uint32_t> places = places_of(index);
  std::vector<Key> keys(tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    keys[i] = {places[index.files()[tensors[i].file].folder], tensors[i].order, time_of(tensors[i]), i};
  }
  const auto by_time = [](const Key& a, const Key& b) {
    return std::tuple(a.place, a.order, a.time, a.tensor) < std::tuple(b.place, b.order, b.time, b.tensor);
  };
  std::sort(keys.begin(), keys.end(), by_time);
  // The n-th tensor of one slot is the operator's n-th run; a run begins with its earliest tensor.
  TextIds texts;
  std::unordered_map<std::array<uint64_t, 4>, Runs, IdsHash> seen;
  std::unordered_map<std::array<uint64_t, 4>, uint64_t, IdsHash> first_time;
  std::vector<std::array<uint64_t, 4>> runs(tensors.size());
  for (const Key& key : keys) {
    TensorRecord& tensor = tensors[key.tensor];
    const uint64_t op = texts.id(tensor.name.op_type) << 32 | texts.id(tensor.name.op_name);
    const uint64_t slot = texts.id(tensor.name.slot) << 8 | static_cast<uint64_t>(tensor.name.io);
    Runs& of_slot = seen[{key.place, op, slot, 0}];
    tensor.claimed_twice = of_slot.count > 0 && key.time == of_slot.last && key.time != kNoTime;
    if (!tensor.claimed_twice) ++of_slot.count;
    of_slot.last = key.time;
    tensor.occurrence = of_slot.count - 1;
    runs[key.tensor] = {key.place, op, tensor.occurrence, tensor.name.io == Io::kParameter ? 1U : 0U};
    first_time.emplace(runs[key.tensor], key.time);
  }
  for (Key& key : keys) key.time = first_time.at(runs[key.tensor]);
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (std::tie(a.place, a.order, a.time) != std::tie(b.place, b.order, b.time))
      return std::tie(a.place, a.order, a.time) < std::tie(b.place, b.order, b.time);
    const TensorRecord &x = tensors[a.tensor], &y = tensors[b.tensor];
    if (x.name.op_name != y.name.op_name) return natural_less(x.name.op_name, y.name.op_name);
    if (runs[a.tensor] != runs[b.tensor]) return runs[a.tensor] < runs[b.tensor];
    if (by_slot(x, y) != by_slot(y, x)) return by_slot(x, y);
    return a.tensor < b.tensor;
  });
  std::vector<TensorRecord> sorted;
  sorted.reserve(tensors.size());
  for (const Key& key : keys) sorted.push_back(tensors[key.tensor]);
  tensors = std::move(sorted);
}

}  // namespace msdump
