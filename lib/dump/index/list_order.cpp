#include "dump/index/list_order.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/hash_slots.h"
#include "base/order.h"
#include "base/text.h"

namespace msdump {
namespace {

constexpr uint64_t kNoTime = UINT64_MAX;  // comes last

uint64_t time_or_last(const TensorRecord& tensor) { return time_of(tensor.name).value_or(kNoTime); }

// Folders, and rows that say their step, by rank, graph and step, unknown values last. Those with equal ones share a
// number, but never those of two dumps given together.
class Places {
 public:
  Places(const DumpIndex& index, const std::vector<TensorRecord>& tensors) : index_(index) {
    for (const IndexedFolder& folder : index.folders()) places_.emplace(key(folder, kStepOfFolder), 0);
    for (const TensorRecord& tensor : tensors) {
      if (tensor.step != kStepOfFolder) places_.emplace(key(folder_of(tensor), tensor.step), 0);
    }
    uint32_t next = 0;
    for (auto& [identity, place] : places_) place = next++;
    for (const IndexedFolder& folder : index.folders()) of_folder_.push_back(places_.at(key(folder, kStepOfFolder)));
  }

  [[nodiscard]] uint32_t of(const TensorRecord& tensor) const {
    if (tensor.step == kStepOfFolder) return of_folder_[index_.files()[tensor.file].folder];
    return places_.at(key(folder_of(tensor), tensor.step));
  }

 private:
  using Number = decltype(known_first(std::optional<int64_t>()));
  using Key = std::tuple<Number, Number, Number, uint32_t>;

  [[nodiscard]] const IndexedFolder& folder_of(const TensorRecord& tensor) const {
    return index_.folders()[index_.files()[tensor.file].folder];
  }

  [[nodiscard]] static Key key(const IndexedFolder& folder, int64_t step) {
    const FolderIdentity& identity = folder.identity;
    return {known_first(identity.rank), known_first(identity.graph),
            known_first(step == kStepOfFolder ? identity.step : std::optional(step)), folder.root};
  }

  const DumpIndex& index_;
  std::map<Key, uint32_t> places_;
  std::vector<uint32_t> of_folder_;
};

struct Key {
  uint32_t place, order;
  uint64_t time;
  uint32_t tensor, run;
};

bool by_time(const Key& a, const Key& b) {
  return std::tie(a.place, a.order, a.time, a.tensor) < std::tie(b.place, b.order, b.time, b.tensor);
}

bool same_time(const Key& a, const Key& b) { return a.place == b.place && a.order == b.order && a.time == b.time; }

// Most dumps are in order already.
void sort_by_time(std::vector<Key>& keys) {
  if (!std::is_sorted(keys.begin(), keys.end(), by_time)) std::sort(keys.begin(), keys.end(), by_time);
}

bool by_slot(const NameFacts& a, const NameFacts& b) {
  if (a.io != b.io) return a.io < b.io;
  return a.slot != b.slot && natural_less(a.slot, b.slot);
}

// An operator in one place.
struct Op {
  uint32_t place = 0;
  uint32_t type = 0;  // equal for equal texts, in the order in which they came
  const NameFacts* name = nullptr;
};

struct Run {
  uint32_t op = 0, occurrence = 0;
  bool of_parameters = false;
  uint64_t begin = kNoTime;  // its earliest tensor
  bool operator==(const Run& other) const {
    return op == other.op && occurrence == other.occurrence && of_parameters == other.of_parameters;
  }
};

// The n-th tensor of one slot is the operator's n-th run. Called for each tensor in the order of time.
class RunFinder {
 public:
  explicit RunFinder(size_t tensors) : ops_by_name_(tensors / 4), slots_by_op_(tensors), runs_by_op_(tensors / 4) {}

  std::vector<Op> ops;
  std::vector<Run> runs;

  // Finds the run that a tensor belongs to, and writes it into the tensor.
  uint32_t find(const Key& key, TensorRecord& tensor) {
    const uint32_t op = op_of(key.place, tensor.name);
    Slot& slot = slot_of(op, tensor.name);
    tensor.claimed_twice = slot.count > 0 && key.time == slot.last && key.time != kNoTime;
    if (!tensor.claimed_twice) ++slot.count;
    slot.last = key.time;
    tensor.occurrence = slot.count - 1;
    return run_of({op, tensor.occurrence, tensor.name.io == Io::kParameter, key.time});
  }

 private:
  struct Slot {
    uint32_t op = 0;
    const NameFacts* name = nullptr;
    uint32_t count = 0;
    uint64_t last = kNoTime;
  };

  uint32_t op_of(uint32_t place, const NameFacts& name) {
    const auto same = [&](uint32_t op) {
      const NameFacts& other = *ops[op].name;
      return ops[op].place == place && other.op_name == name.op_name && other.op_type == name.op_type;
    };
    if (!ops.empty() && same(last_op_)) return last_op_;
    const uint64_t hash = mix_hash(mix_hash(text_hash(name.op_name), text_hash(name.op_type)), place);
    last_op_ = ops_by_name_.find_or_add(hash, static_cast<uint32_t>(ops.size()), same);
    if (last_op_ == ops.size()) ops.push_back({place, type_of(name.op_type), &name});
    return last_op_;
  }

  uint32_t type_of(std::string_view text) {
    const auto same = [&](uint32_t type) { return types_[type] == text; };
    const uint32_t type = types_by_text_.find_or_add(text_hash(text), static_cast<uint32_t>(types_.size()), same);
    if (type == types_.size()) types_.push_back(text);
    return type;
  }

  Slot& slot_of(uint32_t op, const NameFacts& name) {
    const uint64_t hash = mix_hash(mix_hash(text_hash(name.slot), op), static_cast<uint64_t>(name.io));
    const uint32_t slot = slots_by_op_.find_or_add(hash, static_cast<uint32_t>(slots_.size()), [&](uint32_t other) {
      return slots_[other].op == op && slots_[other].name->io == name.io && slots_[other].name->slot == name.slot;
    });
    if (slot == slots_.size()) slots_.push_back({op, &name, 0, kNoTime});
    return slots_[slot];
  }

  uint32_t run_of(const Run& run) {
    const auto same = [&](uint32_t other) { return runs[other] == run; };
    if (!runs.empty() && same(last_run_)) return last_run_;
    const uint64_t hash = mix_hash(mix_hash(run.of_parameters ? 1 : 0, run.op), run.occurrence);
    last_run_ = runs_by_op_.find_or_add(hash, static_cast<uint32_t>(runs.size()), same);
    if (last_run_ == runs.size()) runs.push_back(run);
    return last_run_;
  }

  std::vector<Slot> slots_;
  std::vector<std::string_view> types_;
  HashSlots ops_by_name_, slots_by_op_, runs_by_op_, types_by_text_;
  uint32_t last_op_ = 0, last_run_ = 0;  // tensors of one run mostly follow each other
};

// Tensors that begin at the same time in the same place: by name, run and slot.
class GroupSorter {
 public:
  GroupSorter(const RunFinder& finder, const std::vector<TensorRecord>& tensors)
      : finder_(finder), tensors_(tensors), rank_(finder.ops.size(), 0), listed_(finder.ops.size(), false) {}

  void sort(Key* begin, Key* end) {
    const auto is_sorted = [&](const Key& a, const Key& b) {
      return a.run == b.run && !by_slot(name_facts(b), name_facts(a));
    };
    if (std::adjacent_find(begin, end, [&](const Key& a, const Key& b) { return !is_sorted(a, b); }) == end) return;
    rank_names(begin, end);
    std::sort(begin, end, [&](const Key& a, const Key& b) {
      const Run &x = finder_.runs[a.run], &y = finder_.runs[b.run];
      if (x.op != y.op) return rank_[x.op] < rank_[y.op];
      if (a.run != b.run) return std::tie(x.occurrence, x.of_parameters) < std::tie(y.occurrence, y.of_parameters);
      const NameFacts &left = name_facts(a), &right = name_facts(b);
      if (by_slot(left, right)) return true;
      return !by_slot(right, left) && a.tensor < b.tensor;
    });
  }

 private:
  struct Named {
    NaturalKey key;
    uint32_t op;
  };

  [[nodiscard]] const NameFacts& name_facts(const Key& key) const { return tensors_[key.tensor].name; }
  [[nodiscard]] std::string_view name_of(uint32_t op) const { return finder_.ops[op].name->op_name; }

  void rank_names(const Key* begin, const Key* end) {
    std::vector<Named> named;
    for (const Key* key = begin; key != end; ++key) {
      const uint32_t op = finder_.runs[key->run].op;
      if (listed_[op]) continue;
      listed_[op] = true;
      named.push_back({{}, op});
    }
    const size_t shared = shared_beginning(named);
    for (Named& one : named) one.key = natural_key(name_of(one.op).substr(shared));
    std::sort(named.begin(), named.end(), [&](const Named& a, const Named& b) {
      if (a.key != b.key) return a.key < b.key;
      const std::string_view x = name_of(a.op), y = name_of(b.op);
      return x != y ? natural_less(x, y) : finder_.ops[a.op].type < finder_.ops[b.op].type;
    });
    for (uint32_t i = 0; i < named.size(); ++i) {
      rank_[named[i].op] = i;
      listed_[named[i].op] = false;
    }
  }

  // Names of operators share long scopes, so comparing only what follows is quick. The cut is never inside a number.
  [[nodiscard]] size_t shared_beginning(const std::vector<Named>& named) const {
    const std::string_view first = name_of(named.front().op);
    size_t shared = first.size();
    for (const Named& one : named) {
      const std::string_view name = name_of(one.op).substr(0, shared);
      shared = static_cast<size_t>(std::mismatch(name.begin(), name.end(), first.begin()).first - name.begin());
    }
    while (shared > 0 && is_digits(first.substr(shared - 1, 1))) --shared;
    return shared;
  }

  const RunFinder& finder_;
  const std::vector<TensorRecord>& tensors_;
  std::vector<uint32_t> rank_;  // by operator
  std::vector<bool> listed_;
};

void rearrange(const std::vector<Key>& keys, std::vector<TensorRecord>& tensors) {
  uint32_t place = 0;
  if (std::all_of(keys.begin(), keys.end(), [&](const Key& key) { return key.tensor == place++; })) return;
  std::vector<TensorRecord> sorted;
  sorted.reserve(tensors.size());
  for (const Key& key : keys) sorted.push_back(tensors[key.tensor]);
  tensors = std::move(sorted);
}

}  // namespace

void sort_tensors(const DumpIndex& index, std::vector<TensorRecord>& tensors) {
  const Places places(index, tensors);
  std::vector<Key> keys(tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    keys[i] = {places.of(tensors[i]), tensors[i].order, time_or_last(tensors[i]), i, 0};
  }
  sort_by_time(keys);
  RunFinder finder(tensors.size());
  for (Key& key : keys) key.run = finder.find(key, tensors[key.tensor]);
  for (Key& key : keys) key.time = finder.runs[key.run].begin;
  sort_by_time(keys);
  GroupSorter sorter(finder, tensors);
  for (size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    for (end = begin + 1; end < keys.size() && same_time(keys[begin], keys[end]);) ++end;
    sorter.sort(keys.data() + begin, keys.data() + end);
  }
  rearrange(keys, tensors);
}

}  // namespace msdump
