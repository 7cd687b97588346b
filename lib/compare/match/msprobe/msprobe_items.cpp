#include "compare/match/msprobe/msprobe_items.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/msprobe/msprobe_keys.h"
#include "io/zip.h"
#include "msprobe/dump_json.h"

namespace msdump {
namespace {

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

std::optional<std::string> str_unless_null(const JsonValue* value) {
  return value == nullptr || value->is(JsonKind::kNull) ? std::nullopt : std::optional(str_of(*value));
}

PythonValue statistic(const PythonValue& value) {
  if (value.kind == PythonKind::kNone) return python_str("None");
  return to_lower(value.text) == "nan" ? python_str("Nan") : value;
}

class LeafReader : DumpLeafWalk {
 public:
  explicit LeafReader(const std::string& entry_name) : DumpLeafWalk(kLongestMappedName) { path_ = entry_name; }

  Result<std::vector<MsprobeItem>> read(const JsonValue& value) {
    const auto parts = split(path_, '.');
    const bool is_saved = parts.back() == "debug";
    const bool of_gradients = !is_saved && std::find(parts.end() - std::min<std::ptrdiff_t>(2, std::ssize(parts)),
                                                     parts.end(), "parameters_grad") != parts.end();
    if (of_gradients || is_saved) {
      lists_are_named_ = !of_gradients;  // the items of a list of gradients share one name
      state_ = of_gradients ? MsprobeState::kParametersGrad : MsprobeState::kDebug;
      walk(value);
    } else {
      for (const Section& section : kSections) {
        const JsonValue* found = value.find(section.key);
        if (found == nullptr) continue;
        path_ += section.part;
        state_ = section.state;
        walk(*found);
        path_.resize(path_.size() - section.part.size());
      }
    }
    if (too_long_) return fail(ErrorCode::kTooLarge, "{}: the name of an argument is too long", excerpt(path_));
    return std::move(items_);
  }

 private:
  void leaf(const JsonValue& value, const std::string& type) override { items_.push_back(item_of(value, type)); }
  void scalar(const JsonValue& value) override {
    if (value.is(JsonKind::kNull)) items_.push_back(null_item());
  }
  void too_long(const JsonValue&) override { too_long_ = true; }

  MsprobeItem null_item() const {
    MsprobeItem item;
    item.name = path_;
    item.statistics.fill(python_str("None"));
    item.state = state_;
    return item;
  }

  MsprobeItem item_of(const JsonValue& value, const std::string& type) const {
    MsprobeItem item = null_item();
    if (const JsonValue* data_name = value.find("data_name"); is_true(data_name)) {
      item.data_name = str_of(*data_name);
      if (item.data_name != "-1") item.name = item.data_name.substr(0, item.data_name.rfind('.'));
    }
    item.requires_grad = str_unless_null(value.find("requires_grad"));
    for (size_t i = 0; i < kStatistics.size(); ++i) {
      PythonValue number = python_value(value.find(kStatistics[i]));
      if (number.kind == PythonKind::kBool) number = python_str(number.text);
      item.statistics[i] = statistic(number);
    }
    if (const JsonValue* md5 = value.find("md5"); is_true(md5)) item.checksum = str_of(*md5);
    if (const JsonValue* dtype = value.find("dtype"); is_true(dtype)) {
      item.dtype = str_of(*dtype);
      item.shape = str_unless_null(value.find("shape"));
    } else {
      plain_value(value, type, item);
    }
    if (!item.checksum) {
      const std::string text = value.find("value") == nullptr ? "" : str_of(*value.find("value"));
      item.checksum = fmt::format("{:08x}", crc32_of(std::as_bytes(std::span(text))));
    }
    return item;
  }

  // Fills in a leaf without a dtype.
  void plain_value(const JsonValue& leaf, const std::string& type, MsprobeItem& item) const {
    const JsonValue* value = leaf.find("value");
    const std::string_view last = std::string_view(path_).substr(path_.rfind('.') + 1);
    item.dtype = type;
    item.shape = "[]";
    if (type == "torch.Size") item.shape = str_or_none(value);
    if (type == "slice")  // str(numpy.shape(value))
      item.shape = value != nullptr && value->is(JsonKind::kArray) ? fmt::format("({},)", value->items.size()) : "()";
    if (type == "torch.Size" || type == "slice") return;
    const bool is_rank = last == "src" || last == "dst" || last == "group_src" || last == "group_dst";
    if (type != "ellipsis" && (is_rank || type == "torch.ProcessGroup")) {
      item.checksum = str_or_none(is_rank ? value : leaf.find("group_ranks"));
      return item.statistics.fill(statistic(python_str(*item.checksum)));
    }
    if (type != "ellipsis") item.dtype = class_of(value);
    item.statistics.fill(statistic(python_value(value)));
  }

  MsprobeState state_ = MsprobeState::kInput;
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

// True if msprobe would find checksums in this entry.
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
  const auto parts = split(name, '.');
  const size_t n = parts.size();
  if (n < 2) return {};
  const auto has = [&](std::string_view word) { return parts[n - 1] == word || parts[n - 2] == word; };
  if (has("parameters_grad")) return {name.substr(0, name.rfind('.')), "parameters_grad"};
  if ((!has("forward") && !has("backward")) || n < 3) return {};
  const auto call = static_cast<size_t>(parts[n - 2].data() - name.data());
  return {name.substr(0, call - 1), name.substr(call), !has("forward")};
}

// The call "2.backward" with another number; no value if it has none.
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

class ItemReader : public DumpJsonView {
 public:
  ItemReader(const MsprobeItemForm& form, uint64_t most_kept) : form_(form), most_kept_(most_kept) {}

  void begin() override {
    entries_.clear();
    by_name_.clear();
    result_ = {};
    kept_ = 0;
  }

  Status entry(const DumpJsonEntry& entry) override {
    const std::string& name = entry.place.key;
    auto leaves = LeafReader(name).read(entry.value);
    if (!leaves) {
      entry.problems.add(std::move(leaves.error()), entry.place.begin);
      return {};
    }
    result_.has_checksums = result_.has_checksums || has_msprobe_checksum(entry.value, form_.debug_json);
    kept_ += sizeof(MsprobeItem) + name.size() + kept_by(*leaves);
    if (kept_ > most_kept_) {
      return fail(ErrorCode::kTooLarge, "more than {} entries: they do not fit into {} bytes of memory",
                  entries_.size(), most_kept_);
    }
    // For two entries with one name Python keeps the later value at the place of the earlier.
    const auto [known, is_new] = by_name_.emplace(name, entries_.size());
    if (is_new) result_.entries.push_back(name);
    entries_.resize(result_.entries.size());
    entries_[known->second] = std::move(*leaves);
    return {};
  }

  MsprobeItems take(DumpJsonHead&& head) {
    result_.task = std::move(head.task);
    result_.framework = head.framework.empty() ? "pytorch" : std::move(head.framework);
    result_.problems = head.problems.first();
    number_backward_calls();
    return std::move(result_);
  }

 private:
  void number_backward_calls() {
    const bool renumber = !form_.fuzzy && !form_.debug_json;
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
        if (call) item.key = std::string(parts.op) + "." + *call + replaced(item.name, name, "");
        item.entry = index;
        item.first_of_entry = std::exchange(first, false);
        result_.items.push_back(std::move(item));
      }
      std::vector<MsprobeItem>().swap(entries_[index]);
    }
  }

  const MsprobeItemForm& form_;
  const uint64_t most_kept_;
  MsprobeItems result_;
  std::vector<std::vector<MsprobeItem>> entries_;
  std::unordered_map<std::string, size_t> by_name_;
  uint64_t kept_ = 0;
};

}  // namespace

Result<MsprobeItems> read_msprobe_items(const File& file, const MsprobeItemForm& form,
                                        const MsprobeItemLimits& limits) {
  ItemReader reader(form, limits.kept);
  MSDUMP_TRY(DumpJsonHead head, read_dump_json(file, {.text = limits.text, .entry = limits.entry}, reader));
  return reader.take(std::move(head));
}

std::string msprobe_stack_text(const StackJson& stacks, const StackJson::Op& op) {
  std::string text = "[";
  for (const std::string_view frame : stacks.texts_of(op)) {
    if (text.size() > 1) text += ", ";
    text += quoted_repr(frame);
  }
  return text + "]";
}

}  // namespace msdump
