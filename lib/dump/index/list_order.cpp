#include "dump/index/list_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/containers.h"
#include "base/text.h"
#include "io/dir_walk.h"

namespace msdump {
namespace {

constexpr std::string_view kTensorData = "dump_tensor_data";

// Newer tables keep the '/' of full names, for which file names have '_'.
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
    // Rows come in the order of their table, the order of time.
    for (const auto& [at, data_name] : references_) {
      const size_t partner = data_name.empty() ? partner_by_name(at) : partner_by_file(at, data_name);
      if (partner != kNone) join(at, partner);
      tensors_[at].lost_file = partner == kNone && !data_name.empty() && says_where(at);
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

  // Tensors with elements of one name, in the order of the index; those before `open` have a row.
  struct Named {
    std::vector<size_t> tensors;
    size_t open = 0;
    std::unordered_map<std::string_view, std::vector<size_t>> by_time;  // the last one first; filled on demand
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

  // Indexes tensors with elements, in folders that have a table, by the values of a row about them.
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
    const auto is_taken = [&](size_t candidate) { return tensors_[candidate].table != kNoId; };
    while (named.open < named.tensors.size() && is_taken(named.tensors[named.open])) ++named.open;
    if (named.open == named.tensors.size()) return kNone;
    const size_t of_time = named.tensors.size() == 1 ? kNone : partner_by_time(named, row);
    return of_time == kNone ? named.tensors[named.open] : of_time;
  }

  // The first tensor without a row that has the time stamp of this row.
  size_t partner_by_time(Named& named, size_t row) {
    if (named.by_time.empty()) {
      for (size_t i = named.tensors.size(); i-- > named.open;)
        named.by_time[tensors_[named.tensors[i]].name.timestamp].push_back(named.tensors[i]);
    }
    const auto of_time = named.by_time.find(tensors_[row].name.timestamp);
    if (of_time == named.by_time.end()) return kNone;
    std::vector<size_t>& left = of_time->second;
    while (!left.empty() && tensors_[left.back()].table != kNoId) left.pop_back();
    return left.empty() ? kNone : left.back();
  }

  // False for a row that has elements only perhaps: a dump.pkl of statistics names the same files.
  bool says_where(size_t row) {
    const IndexedFile& table = index_.files()[tensors_[row].file];
    return table.kind != FileKind::kDumpPkl || data_folder_.count(tensors_[row].file) > 0;
  }

  void index_by_file() {
    std::unordered_map<std::string, uint32_t> folders;
    for (uint32_t i = 0; i < index_.folders().size(); ++i) {
      folders.emplace(fmt::format("{}\n{}", index_.folders()[i].root, index_.folders()[i].relative), i);
    }
    for (const auto& [at, data_name] : references_) {
      const FileId table = tensors_[at].file;
      if (data_name.empty() || !with_names_.insert(table).second) continue;
      const IndexedFile& file = index_.files()[table];
      const IndexedFolder& folder = index_.folders()[file.folder];
      // "dump" beside dump.pkl
      const std::string_view stem = std::string_view(file.name).substr(0, file.name.rfind('.'));
      const std::string_view name = file.kind == FileKind::kDumpPkl ? stem : kTensorData;
      const auto data = folders.find(fmt::format("{}\n{}", folder.root, join_path(folder.relative, name)));
      if (data != folders.end()) data_folder_.emplace(table, data->second);
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
    const auto folder = data_folder_.find(tensors_[row].file);
    if (folder == data_folder_.end()) return kNone;
    const auto found = by_file_.find(fmt::format("{}\n{}", folder->second, data_name));
    return found == by_file_.end() || tensors_[found->second].table != kNoId ? kNone : found->second;
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
  std::set<FileId> with_names_;             // tables whose rows name files
  std::map<FileId, uint32_t> data_folder_;  // of those tables
};

}  // namespace

void join_tables(const DumpIndex& index, std::vector<TensorRecord>& tensors,
                 const std::vector<TableReference>& references) {
  if (!references.empty()) Joiner(index, tensors, references).run();
}

namespace {

bool differ_in_one_axis(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  size_t differ = 0;
  for (size_t i = 0; i < a.size(); ++i) differ += a[i] != b[i] ? 1U : 0U;
  return differ == 1;
}

// The files of one folder that hold parameters, and how these agree.
struct Passes {
  struct Key {
    const Shape* first = nullptr;
    bool again = false, varies = false;
  };
  std::map<FileId, int64_t> steps;  // by file
  std::map<std::string_view, Key> keys;

  void add(const TensorRecord& tensor) {
    steps.try_emplace(tensor.file, 0);
    Key& key = keys[tensor.name.op_name];
    key.again = key.again || key.first != nullptr;
    if (key.first == nullptr) key.first = tensor.shape;
    key.varies = key.varies || differ_in_one_axis(*key.first, *tensor.shape);
  }

  [[nodiscard]] bool vary() const {
    size_t common = 0, varying = 0;
    for (const auto& [name, key] : keys) {
      common += key.again ? 1U : 0U;
      varying += key.varies ? 1U : 0U;
    }
    return varying > 0 && varying * 2 > common;
  }

  // Numbers the files by the number at the end of their names, if each has its own, else in their order.
  void number(const DumpIndex& index) {
    std::vector<FileId> files;
    std::set<int64_t> numbers;
    for (auto& [file, step] : steps) {
      files.push_back(file);
      const std::string_view name = index.files()[file].shown_name(), stem = name.substr(0, name.rfind('.'));
      const auto number = parse_i64(stem.substr(stem.find_last_not_of("0123456789") + 1));
      if (!number) continue;
      step = *number;
      numbers.insert(*number);
    }
    if (numbers.size() == steps.size()) return;
    std::sort(files.begin(), files.end(), [&](FileId a, FileId b) {
      return natural_less(index.files()[a].shown_name(), index.files()[b].shown_name());
    });
    for (size_t i = 0; i < files.size(); ++i) steps[files[i]] = static_cast<int64_t>(i);
  }
};

}  // namespace

void find_passes(const DumpIndex& index, std::vector<TensorRecord>& tensors) {
  const auto folder_of = [&](const TensorRecord& tensor) { return index.files()[tensor.file].folder; };
  const auto may_be_of_pass = [&](const TensorRecord& tensor) {
    return tensor.name.io == Io::kParameter && tensor.name.op_type == "Parameter" && tensor.has_elements &&
           tensor.shape != nullptr && !index.folders()[folder_of(tensor)].identity.step;
  };
  std::map<uint32_t, Passes> folders;
  for (const TensorRecord& tensor : tensors) {
    if (may_be_of_pass(tensor)) folders[folder_of(tensor)].add(tensor);
  }
  std::erase_if(folders, [](const auto& folder) { return !folder.second.vary(); });
  if (folders.empty()) return;
  for (auto& [folder, passes] : folders) passes.number(index);
  for (TensorRecord& tensor : tensors) {
    const auto passes = folders.find(folder_of(tensor));
    if (passes == folders.end() || !may_be_of_pass(tensor)) continue;
    tensor.name.io = Io::kOutput;
    tensor.name.op_type = {};
    tensor.step = passes->second.steps.at(tensor.file);
    tensor.order = tensor.item;
  }
}

namespace {

constexpr uint64_t kNoTime = UINT64_MAX;  // comes last

uint64_t time_or_last(const TensorRecord& tensor) { return time_of(tensor.name).value_or(kNoTime); }

// Places of folders, and of rows with a step, sorted by rank, graph, step and dump, unknown values last. Equal ones share a
// number.
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
  using Key = std::tuple<Number, Number, Number, uint32_t, uint32_t>;

  [[nodiscard]] const IndexedFolder& folder_of(const TensorRecord& tensor) const {
    return index_.folders()[index_.files()[tensor.file].folder];
  }

  [[nodiscard]] static Key key(const IndexedFolder& folder, int64_t step) {
    const FolderIdentity& identity = folder.identity;
    return {known_first(identity.rank), known_first(identity.graph),
            known_first(step == kStepOfFolder ? identity.step : std::optional(step)), folder.root, identity.dump};
  }

  const DumpIndex& index_;
  std::map<Key, uint32_t> places_;
  std::vector<uint32_t> of_folder_;
};

struct Key {
  uint32_t place, order;
  uint64_t time;
  RecordId tensor;
  uint32_t run;
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
  uint32_t type = 0;  // number of the text, in order of first occurrence
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

// Finds executions: the n-th tensor of a slot belongs to the operator's n-th execution. Called in the order of time.
class RunFinder {
 public:
  explicit RunFinder(size_t tensors) : ops_by_name_(tensors / 4), slots_by_op_(tensors), runs_by_op_(tensors / 4) {}

  std::vector<Op> ops;
  std::vector<Run> runs;

  // Returns the execution of a tensor and sets its occurrence.
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
  uint32_t last_op_ = 0, last_run_ = 0;  // tensors of one execution mostly follow each other
};

// Sorts tensors of one time and place by name, execution and slot.
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

  // The length of the scope that all names share, so that only the rest is compared. It never ends inside a number.
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
  for (RecordId i{0}; i < tensors.size(); ++i) {
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
