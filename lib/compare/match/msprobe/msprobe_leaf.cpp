#include "compare/match/msprobe/msprobe_leaf.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/zip/zip.h"

namespace msdump {
namespace {

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

}  // namespace

Result<std::vector<MsprobeItem>> read_msprobe_leaves(const std::string& entry_name, const JsonValue& value) {
  return LeafReader(entry_name).read(value);
}

bool has_msprobe_checksum(const JsonValue& entry, bool debug_json) {
  if (debug_json) return has_nested_key(entry);
  return std::any_of(entry.members.begin(), entry.members.end(), [](const JsonMember& member) {
    return has_key(member.value) || std::any_of(member.value.items.begin(), member.value.items.end(), has_key);
  });
}

}  // namespace msdump
