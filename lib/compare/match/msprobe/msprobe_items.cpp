#include "compare/match/msprobe/msprobe_items.h"

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "compare/match/msprobe/msprobe_python.h"
#include "io/file.h"
#include "io/json.h"
#include "io/zip.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

// One entry of dump.json or debug.json, from its parsed value to msprobe's items; the rules are in msprobe_items.h.

constexpr size_t kMaxName = 4096;

struct Section {
  std::string_view key, part;
  MsprobeState state;
};
constexpr std::array<Section, 5> kSections{{{"input_args", ".input", MsprobeState::kInput},
                                            {"input_kwargs", ".input", MsprobeState::kInput},
                                            {"input", ".input", MsprobeState::kInput},
                                            {"parameters", ".parameters", MsprobeState::kParameters},
                                            {"output", ".output", MsprobeState::kOutput}}};
constexpr std::array<std::string_view, 4> kStatistics{"Max", "Min", "Mean", "Norm"};

// Python's bool(value).
bool is_true(const JsonValue* value) {
  if (value == nullptr) return false;
  switch (value->kind) {
    case JsonKind::kNull: return false;
    case JsonKind::kBool: return value->boolean;
    case JsonKind::kNumber: return value->as_double().value_or(1) != 0;
    case JsonKind::kString: return !value->text.empty();
    case JsonKind::kArray: return !value->items.empty();
    case JsonKind::kObject: return !value->members.empty();
  }
  return false;
}

std::string class_of(const JsonValue* value) {
  std::string_view name = "NoneType";
  if (value != nullptr) {
    switch (value->kind) {
      case JsonKind::kNull: break;
      case JsonKind::kBool: name = "bool"; break;
      case JsonKind::kNumber: name = python_value(value).kind == PythonKind::kInt ? "int" : "float"; break;
      case JsonKind::kString: name = "str"; break;
      case JsonKind::kArray: name = "list"; break;
      case JsonKind::kObject: name = "dict"; break;
    }
  }
  return fmt::format("<class '{}'>", name);
}

std::string str_or_none(const JsonValue* value) { return value == nullptr ? "None" : str_of(*value); }

// str(numpy.shape(value)) for the list of a slice.
std::string numpy_shape(const JsonValue* value) {
  if (value == nullptr || !value->is(JsonKind::kArray)) return "()";
  return fmt::format("({},)", value->items.size());
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

PythonValue statistic(const PythonValue& value) {
  if (value.kind == PythonKind::kNone) return python_str("None");
  return to_lower(value.text) == "nan" ? python_str("Nan") : value;
}

class LeafReader {
 public:
  explicit LeafReader(const std::string& entry_name) : name_(entry_name) {}

  Result<std::vector<MsprobeItem>> read(const JsonValue& value) {
    const auto parts = split(name_, '.');
    if (parts.back() == "debug") {
      walk(value, MsprobeState::kDebug);
    } else if (parts.back() == "parameters_grad" ||
               (parts.size() > 1 && parts[parts.size() - 2] == "parameters_grad")) {
      lists_are_named_ = false;
      walk(value, MsprobeState::kParametersGrad);
    } else {
      for (const Section& section : kSections) {
        const JsonValue* found = value.find(section.key);
        if (found == nullptr) continue;
        name_ += section.part;
        walk(*found, section.state);
        name_.resize(name_.size() - section.part.size());
      }
    }
    if (too_long_) return fail(ErrorCode::kTooLarge, "{}: the name of an argument is too long", excerpt(name_));
    const auto rank = [](MsprobeState state) { return state == MsprobeState::kDebug ? MsprobeState::kInput : state; };
    std::stable_sort(items_.begin(), items_.end(),
                     [&](const MsprobeItem& a, const MsprobeItem& b) { return rank(a.state) < rank(b.state); });
    return std::move(items_);
  }

 private:
  void walk(const JsonValue& value, MsprobeState state) {
    if (value.is(JsonKind::kNull)) {
      add(null_item(), state);
    } else if (value.is(JsonKind::kArray)) {
      size_t index = 0;
      for (const JsonValue& item : value.items) {
        lists_are_named_ ? step(std::to_string(index), item, state) : walk(item, state);
        ++index;
      }
    } else if (value.is(JsonKind::kObject) && !value.members.empty()) {
      dict(value, state);
    }
  }

  void dict(const JsonValue& value, MsprobeState state) {
    if (const JsonValue* wrapper = value.find("class_type");
        wrapper != nullptr && wrapper->is(JsonKind::kString) && wrapper->text == "torch.distributed.P2POp") {
      const JsonValue* tensor = value.find("tensor");
      return add(tensor != nullptr && tensor->is(JsonKind::kObject) ? leaf(*tensor) : null_item(), state);
    }
    if (const JsonValue* type = value.find("type"); type != nullptr && type->is(JsonKind::kString)) {
      return add(leaf(value), state);
    }
    // Of two members with one name Python keeps the later value at the place of the earlier.
    std::unordered_map<std::string_view, const JsonValue*> last;
    for (const JsonMember& member : value.members) last[member.key] = &member.value;
    for (const JsonMember& member : value.members) {
      if (const auto found = last.find(member.key); found->second != nullptr)
        step(member.key, *std::exchange(found->second, nullptr), state);
    }
  }

  void step(std::string_view key, const JsonValue& value, MsprobeState state) {
    const size_t length = name_.size();
    name_ += '.';
    name_ += key;
    too_long_ = too_long_ || name_.size() > kMaxName;
    if (!too_long_) walk(value, state);
    name_.resize(length);
  }

  void add(MsprobeItem item, MsprobeState state) {
    item.state = state;
    items_.push_back(std::move(item));
  }

  MsprobeItem null_item() const {
    MsprobeItem item;
    item.name = name_;
    item.statistics.fill(python_str("None"));
    return item;
  }

  MsprobeItem leaf(const JsonValue& value) const {
    MsprobeItem item = null_item();
    if (const JsonValue* data_name = value.find("data_name"); is_true(data_name)) {
      item.data_name = str_of(*data_name);
      if (item.data_name != "-1") item.name = item.data_name.substr(0, item.data_name.rfind('.'));
    }
    if (const JsonValue* requires_grad = value.find("requires_grad");
        requires_grad != nullptr && !requires_grad->is(JsonKind::kNull)) {
      item.requires_grad = str_of(*requires_grad);
    }
    for (size_t i = 0; i < kStatistics.size(); ++i) {
      PythonValue number = python_value(value.find(kStatistics[i]));
      if (number.kind == PythonKind::kBool) number = python_str(number.text);
      item.statistics[i] = statistic(number);
    }
    if (const JsonValue* md5 = value.find("md5"); is_true(md5)) item.checksum = str_of(*md5);
    if (const JsonValue* dtype = value.find("dtype"); is_true(dtype)) {
      item.dtype = str_of(*dtype);
      if (const JsonValue* shape = value.find("shape"); shape != nullptr && !shape->is(JsonKind::kNull)) {
        item.shape = str_of(*shape);
      }
    } else {
      plain_value(value, item);
    }
    if (!item.checksum) {
      const std::string text = value.find("value") == nullptr ? "" : str_of(*value.find("value"));
      item.checksum = fmt::format("{:08x}", crc32_of(std::as_bytes(std::span(text))));
    }
    return item;
  }

  // A leaf without a dtype.
  void plain_value(const JsonValue& leaf, MsprobeItem& item) const {
    const std::string& type = leaf.find("type") == nullptr ? name_ : leaf.find("type")->text;
    const JsonValue* value = leaf.find("value");
    const std::string_view last = last_part(name_);
    item.dtype = type;
    if (type == "torch.Size") {
      item.shape = str_or_none(value);
      return;
    }
    if (type == "slice") {
      item.shape = numpy_shape(value);
      return;
    }
    item.shape = "[]";
    const bool is_rank = last == "src" || last == "dst" || last == "group_src" || last == "group_dst";
    if (type != "ellipsis" && (is_rank || type == "torch.ProcessGroup")) {
      item.checksum = str_or_none(is_rank ? value : leaf.find("group_ranks"));
      return item.statistics.fill(statistic(python_str(*item.checksum)));
    }
    if (type != "ellipsis") item.dtype = class_of(value);
    item.statistics.fill(statistic(python_value(value)));
  }

  std::string name_;
  bool lists_are_named_ = true;  // the items of a list of gradients share one name
  bool too_long_ = false;
  std::vector<MsprobeItem> items_;
};

bool has_key(const JsonValue& value) { return value.find("md5") != nullptr; }

bool has_nested_key(const JsonValue& value) {
  if (has_key(value)) return true;
  const auto nested = [](const auto& part) {
    if constexpr (requires { part.value; })
      return has_nested_key(part.value);
    else
      return has_nested_key(part);
  };
  return std::any_of(value.members.begin(), value.members.end(), nested) ||
         std::any_of(value.items.begin(), value.items.end(), nested);
}

// Items in the order of the result file, without key and entry. kTooLarge when the name of a leaf exceeds 4096 bytes.
Result<std::vector<MsprobeItem>> read_msprobe_leaves(const std::string& entry_name, const JsonValue& value) {
  return LeafReader(entry_name).read(value);
}

// Whether msprobe would find checksums in this entry.
bool has_msprobe_checksum(const JsonValue& entry, bool debug_json) {
  if (debug_json) return has_nested_key(entry);
  return std::any_of(entry.members.begin(), entry.members.end(), [](const JsonMember& member) {
    return has_key(member.value) || std::any_of(member.value.items.begin(), member.value.items.end(), has_key);
  });
}

// "Functional.linear.2.backward" is operator "Functional.linear", call "2.backward".
struct EntryName {
  std::string_view op, call;
  bool backward = false;
};

EntryName parts_of(std::string_view name, bool debug_json) {
  if (debug_json) return {name, name};
  const size_t last_dot = name.rfind('.');
  if (last_dot == std::string_view::npos) return {};
  const size_t second_dot = last_dot == 0 ? std::string_view::npos : name.rfind('.', last_dot - 1);
  const std::string_view last = name.substr(last_dot + 1);
  const size_t second_begin = second_dot == std::string_view::npos ? 0 : second_dot + 1;
  const std::string_view second = name.substr(second_begin, last_dot - second_begin);
  if (last == "parameters_grad" || second == "parameters_grad") return {name.substr(0, last_dot), "parameters_grad"};
  const bool forward = last == "forward" || second == "forward";
  const bool backward = last == "backward" || second == "backward";
  if ((!forward && !backward) || second_dot == std::string_view::npos) return {};
  return {name.substr(0, second_dot), name.substr(second_begin), !forward && backward};
}

std::string without(std::string text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos && !part.empty(); at = text.find(part, at)) {
    text.erase(at, part.size());
  }
  return text;
}

// "2.backward" with another number; nothing if it has none.
std::optional<std::string> renumbered(std::string_view call, uint64_t number) {
  const size_t dot = call.find('.');
  const std::string_view head = call.substr(0, dot), tail = dot == std::string_view::npos ? "" : call.substr(dot + 1);
  if (!is_digits(head) && !is_digits(tail)) return std::nullopt;
  const std::string text = std::to_string(number);
  return (is_digits(head) ? text : std::string(head)) + "." + (is_digits(tail) ? text : std::string(tail));
}

uint64_t kept_by(const std::vector<MsprobeItem>& items) {
  uint64_t bytes = 0;
  for (const MsprobeItem& item : items) {
    bytes += sizeof(MsprobeItem) + 2 * item.name.size() + item.data_name.size();
    for (const PythonValue& value : item.statistics) bytes += value.text.size();
    for (const auto* text : {&item.dtype, &item.shape, &item.checksum}) bytes += *text ? (*text)->size() : 0;
  }
  return bytes;
}

class ItemReader {
 public:
  ItemReader(std::string_view text, const MsprobeItemForm& form, const MsprobeItemLimits& limits)
      : text_(text), form_(form), limits_(limits), problems_(text) {}

  Result<MsprobeItems> read(const std::string& path) {
    JsonMemberReader members(text_, 0);
    bool has_data = false;
    for (;;) {
      MSDUMP_TRY(const auto member, members.next());
      if (!member) break;
      has_data = has_data || member->key == "data";
      MSDUMP_CHECK_OK(top_level(*member));
    }
    if (skip_json_space(text_, members.end()) != text_.size()) {
      return bad_json(text_, members.end(), "more text after the object");
    }
    if (!has_data) return bad_json(text_, 0, "no \"data\": this is not a dump.json of msprobe");
    assemble(!form_.fuzzy && !form_.debug_json);
    result_.problems = problems_.take(path).first();
    return std::move(result_);
  }

 private:
  Status top_level(const JsonMemberPlace& member) {
    if (member.key == "data") return data(member);
    if (member.key != "task" && member.key != "framework") return {};
    if (member.end - member.begin > limits_.entry) return bad_json(text_, member.begin, "a text of this length");
    MSDUMP_TRY(auto value, parse_json_at(text_, member.begin, member.end));
    if (value.is(JsonKind::kString)) (member.key == "task" ? result_.task : result_.framework) = std::move(value.text);
    return {};
  }

  Status data(const JsonMemberPlace& place) {
    entries_.clear();
    by_name_.clear();
    problems_.clear();
    kept_ = 0;
    result_ = MsprobeItems{std::move(result_.task), std::move(result_.framework), false, {}, {}, {}};
    if (text_[place.begin] != '{') return bad_json(text_, place.begin, "\"data\" is not an object");
    int64_t entries = 0;
    return read_json_entries_at(
        text_, place.begin, limits_.entry, problems_, entries,
        [this](const JsonMemberPlace& member, const JsonValue& value) { return entry(member, value); });
  }

  Status entry(const JsonMemberPlace& member, const JsonValue& value) {
    auto leaves = read_msprobe_leaves(member.key, value);
    if (!leaves) {
      problems_.add(std::move(leaves.error()), member.begin);
      return {};
    }
    result_.has_checksums = result_.has_checksums || has_msprobe_checksum(value, form_.debug_json);
    kept_ += sizeof(MsprobeItem) + member.key.size() + kept_by(*leaves);
    if (kept_ > limits_.kept) {
      return fail(ErrorCode::kTooLarge, "more than {} entries: they do not fit into {} bytes of memory",
                  entries_.size(), limits_.kept);
    }
    // For two entries with one name Python keeps the later value at the place of the earlier.
    const auto [known, is_new] = by_name_.emplace(member.key, entries_.size());
    if (is_new) {
      result_.entries.push_back(member.key);
      entries_.push_back(std::move(*leaves));
    } else {
      entries_[known->second] = std::move(*leaves);
    }
    return {};
  }

  void assemble(bool renumber) {
    if (result_.framework.empty()) result_.framework = "pytorch";
    std::unordered_map<std::string_view, uint64_t> backward_calls;
    for (uint32_t index = 0; index < entries_.size(); ++index) {
      const std::string& name = result_.entries[index];
      const EntryName parts = parts_of(name, form_.debug_json);
      if (parts.op.empty()) continue;
      std::optional<std::string> call;
      if (renumber && parts.backward) call = renumbered(parts.call, backward_calls[parts.op]++);
      bool first = true;
      for (MsprobeItem& item : entries_[index]) {
        item.key = item.name;
        if (call) item.key = std::string(parts.op) + "." + *call + without(item.name, name);
        item.entry = index;
        item.first_of_entry = std::exchange(first, false);
        result_.items.push_back(std::move(item));
      }
      std::vector<MsprobeItem>().swap(entries_[index]);
    }
  }

  std::string_view text_;
  const MsprobeItemForm& form_;
  const MsprobeItemLimits& limits_;
  JsonProblems problems_;
  MsprobeItems result_;
  std::vector<std::vector<MsprobeItem>> entries_;
  std::unordered_map<std::string, size_t> by_name_;
  uint64_t kept_ = 0;
};

}  // namespace

Result<MsprobeItems> read_msprobe_items(const File& file, const MsprobeItemForm& form,
                                        const MsprobeItemLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a dump.json"));
  return in_file(ItemReader(text.view(), form, limits).read(file.path()), file.path());
}

namespace {

constexpr uint64_t kMaxText = uint64_t{4} << 30;
constexpr uint64_t kMaxEntry = uint64_t{16} << 20;

bool is_shared(const JsonValue& value) {
  return value.is(JsonKind::kArray) && value.items.size() == 2 && value.items[0].is(JsonKind::kArray);
}

std::vector<std::string> texts_of(const JsonValue& frames) {
  std::vector<std::string> texts;
  for (const JsonValue& frame : frames.items) texts.push_back(str_of(frame));
  return texts;
}

}  // namespace

const std::string* MsprobeStacks::find(const std::string& entry) const {
  const auto found = by_name.find(entry);
  return found == by_name.end() ? nullptr : &texts[found->second];
}

Result<MsprobeStacks> read_msprobe_stacks(const File& file) {
  MSDUMP_TRY(const auto text, read_large_text(file, kMaxText, "a stack.json"));
  MsprobeStacks stacks;
  stacks.older_form = true;
  JsonProblems problems(text.view());
  int64_t entries = 0;
  const auto entry = [&](const JsonMemberPlace& member, const JsonValue& value) -> Status {
    if (is_shared(value)) {
      stacks.older_form = false;
      for (const JsonValue& name : value.items[0].items) stacks.by_name[str_of(name)] = stacks.texts.size();
      stacks.texts.push_back(str_of(value.items[1]));
    } else if (!value.is(JsonKind::kNull)) {
      stacks.by_name[member.key] = stacks.texts.size();
      stacks.texts.push_back(str_of(value));
      stacks.frames.resize(stacks.texts.size());
      stacks.frames.back() = texts_of(value);
    }
    return {};
  };
  MSDUMP_CHECK_OK(in_file(read_json_entries(text.view(), kMaxEntry, problems, entries, entry), file.path()));
  if (!stacks.older_form) stacks.frames.clear();
  return stacks;
}

}  // namespace msdump
