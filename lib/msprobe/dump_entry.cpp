#include "msprobe/dump_entry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "report/json_text.h"

namespace msdump {
namespace {

constexpr size_t kMaxSlot = 1024, kMostArguments = 256, kLongestArgument = 256;

// A plain name: one that stays in the folder it is looked up in.
bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

// "torch.float32", "mindspore.float32", "Float32" and numpy's "float32".
std::optional<DType> dtype_of(std::string_view text) {
  for (const std::string_view prefix : {"torch.", "mindspore."}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  return dtype_from_name(text);
}

bool is_dtype_name(std::string_view type) { return type.ends_with(".dtype"); }

// Types whose values mean the same in every process: not a device or a process group.
bool is_plain_type(std::string_view type) {
  static constexpr std::array<std::string_view, 9> kTypes = {
      "int", "float", "bool", "str", "complex", "slice", "Ellipsis", "ellipsis", "torch.memory_format"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end() || is_dtype_name(type) ||
         type.ends_with(".Size") || type.ends_with(".ReduceOp");
}

// "[1,null,2]"; cut short where it is too long anyway.
void append_list(const JsonValue& list, std::string& text) {
  text += '[';
  for (const JsonValue& item : list.items) {
    if (text.size() > kLongestArgument) return;
    if (text.back() != '[') text += ',';
    switch (item.kind) {
      case JsonKind::kNull: text += "null"; break;
      case JsonKind::kBool: text += item.boolean ? "true" : "false"; break;
      case JsonKind::kArray: append_list(item, text); break;
      case JsonKind::kNumber:
      case JsonKind::kString: text += item.text; break;
      case JsonKind::kObject: text += "{}"; break;
    }
  }
  text += ']';
}

constexpr size_t kLongestDistribution = size_t{64} << 10;

void append_value(const JsonValue& value, std::string& text);

template <class Items, class Append>
void append_all(const Items& items, char open, char close, std::string& text, const Append& append) {
  text += open;
  for (const auto& item : items) {
    if (text.size() > kLongestDistribution) return;
    if (text.back() != open) text += ',';
    append(item);
  }
  text += close;
}

// "Device Matrix" becomes "device_matrix".
std::string snake_case(std::string_view key) {
  std::string snake = to_lower(key);
  std::replace(snake.begin(), snake.end(), ' ', '_');
  return snake;
}

// As compact JSON; cut short where it is too long anyway.
void append_value(const JsonValue& value, std::string& text) {
  switch (value.kind) {
    case JsonKind::kNull: text += "null"; break;
    case JsonKind::kBool: text += value.boolean ? "true" : "false"; break;
    case JsonKind::kNumber: text += value.as_double() && std::isfinite(*value.as_double()) ? value.text : "null"; break;
    case JsonKind::kString: report::append_json_string(text, value.text); break;
    case JsonKind::kArray:
      append_all(value.items, '[', ']', text, [&](const JsonValue& item) { append_value(item, text); });
      break;
    case JsonKind::kObject:
      append_all(value.members, '{', '}', text, [&](const JsonMember& member) {
        report::append_json_string(text, snake_case(member.key));
        text += ':';
        append_value(member.value, text);
      });
  }
}

// {"Shard": {"dim": 0}} as "Shard(0)", {"Replicate": {}} as "Replicate"; other values as they are.
void append_placement(const JsonValue& placement, std::string& text) {
  if (placement.members.size() != 1) return append_value(placement, text);
  const JsonMember& kind = placement.members.front();
  std::string word = kind.key;
  const auto& arguments = kind.value.members;
  for (size_t i = 0; i < arguments.size(); ++i) word += (i == 0 ? "(" : ", ") + arguments[i].value.text;
  if (!arguments.empty()) word += ')';
  report::append_json_string(text, word);
}

std::string distribution_of(const JsonValue& leaf) {
  std::string text = "{";
  const auto key = [&](std::string_view name) {
    text.append(text.size() > 1 ? "," : "").append("\"").append(name).append("\":");
  };
  if (const JsonValue* mesh = leaf.find("device_mesh")) {
    key("device_mesh");
    append_value(*mesh, text);
  }
  if (const JsonValue* placements = leaf.find("placements");
      placements != nullptr && placements->is(JsonKind::kArray)) {
    key("placements");
    append_all(placements->items, '[', ']', text, [&](const JsonValue& item) { append_placement(item, text); });
  }
  if (const JsonValue* layout = leaf.find("layout"); layout != nullptr && layout->is(JsonKind::kObject)) {
    for (const JsonMember& member : layout->members) {
      if (text.size() > kLongestDistribution) break;
      key(excerpt(snake_case(member.key)));
      append_value(member.value, text);
    }
  }
  if (const JsonValue* shards = leaf.find("hsdp_shard_size")) {
    key("hsdp_shard_size");
    append_value(*shards, text);
  }
  text += '}';
  return text.size() > 2 && text.size() <= kLongestDistribution ? text : std::string();
}

class EntryReader {
 public:
  explicit EntryReader(const std::string& name) : name_(name) {}

  DumpEntry read(const JsonValue& value) {
    const auto entry = parse_msprobe_entry(name_);
    if (!entry) {
      bad(value, "the name has no known form");
      return std::move(result_);
    }
    op_type_ = entry->op_type;
    if (entry->kind == MsprobeEntryKind::kDebug) {
      io_ = MsprobeIo::kDebug;
      walk(value);
    } else if (!value.is(JsonKind::kObject)) {
      bad(value, "expected an object");
    } else if (entry->kind == MsprobeEntryKind::kParameterGradients) {
      gradients(value);
    } else {
      for (const JsonMember& member : value.members) section(member);
    }
    return std::move(result_);
  }

 private:
  void section(const JsonMember& member) {
    if (member.key == "is_nan") return overflow(member.value);
    are_arguments_ = member.key == "input_args" || member.key == "input_kwargs";
    if (are_arguments_ || member.key == "input") {
      io_ = MsprobeIo::kInput;
    } else if (member.key == "output") {
      io_ = MsprobeIo::kOutput;
    } else if (member.key == "parameters") {
      io_ = MsprobeIo::kParameter;
    } else if (member.value.is(JsonKind::kObject) || member.value.is(JsonKind::kArray)) {
      bad(member.value, fmt::format("the section '{}' is not known", excerpt(member.key)));
      return;
    }
    walk(member.value);
  }

  void overflow(const JsonValue& value) {
    if (value.is(JsonKind::kNumber) && value.as_int()) {
      result_.overflow = static_cast<uint64_t>(*value.as_int());
    } else if (value.is(JsonKind::kBool)) {
      result_.overflow = value.boolean ? 1 : 0;
    } else if (!value.is(JsonKind::kNull)) {
      bad(value, "is_nan is not a whole number");
      return;
    }
    result_.has_overflow = true;
  }

  // {parameter: [LEAF]}: the list is not part of the slot.
  void gradients(const JsonValue& value) {
    io_ = MsprobeIo::kParameter;
    for (const JsonMember& member : value.members) {
      const bool wrapped = member.value.is(JsonKind::kArray) && member.value.items.size() == 1;
      step(member.key, wrapped ? member.value.items.front() : member.value);
    }
  }

  // The JSON reader bounds the depth.
  void walk(const JsonValue& value) {
    if (value.is(JsonKind::kArray)) {
      size_t index = 0;
      for (const JsonValue& item : value.items) step(std::to_string(index++), item);
    } else if (!value.is(JsonKind::kObject)) {
      ++result_.others;
      if (value.is(JsonKind::kNull)) argument(value, {});
    } else if (const JsonValue* type = value.find("type"); type != nullptr && type->is(JsonKind::kString)) {
      leaf(value, type->text);
    } else if (const JsonValue* wrapper = value.find("class_type");
               wrapper != nullptr && wrapper->is(JsonKind::kString)) {
      const JsonValue* tensor = value.find("tensor");
      if (tensor != nullptr) walk(*tensor);
    } else {
      for (const JsonMember& member : value.members) step(member.key, member.value);
    }
  }

  void step(std::string_view key, const JsonValue& value) {
    const size_t length = slot_.size();
    if (has_steps_) slot_ += '.';
    slot_ += key;
    const bool had_steps = std::exchange(has_steps_, true);
    // Every tensor gets a copy of the slot.
    if (slot_.size() <= kMaxSlot) {
      walk(value);
    } else {
      bad(value, "the name of the argument is too long");
    }
    has_steps_ = had_steps;
    slot_.resize(length);
  }

  void leaf(const JsonValue& value, const std::string& type) {
    const JsonValue* dtype = value.find("dtype");
    if (dtype == nullptr) {
      ++result_.others;
      const JsonValue* scalar = value.find("value");
      if (scalar != nullptr && is_plain_type(type)) argument(*scalar, type);
      const JsonValue* ranks = type.ends_with(".ProcessGroup") ? value.find("group_ranks") : nullptr;
      if (ranks != nullptr && ranks->is(JsonKind::kArray)) argument(*ranks, type);
      return;
    }
    MsprobeTensor tensor;
    if (!read_leaf(value, *dtype, tensor)) return;
    if (tensor.data_name && !is_plain_file_name(*tensor.data_name)) {
      bad(*value.find("data_name"), fmt::format("data_name '{}' is not a plain file name", excerpt(*tensor.data_name)),
          ErrorCode::kUnsafeName);
      tensor.data_name.reset();
    }
    tensor.type = type;
    if (std::string text = distribution_of(value); !text.empty())
      tensor.distribution = std::make_shared<const std::string>(std::move(text));
    result_.tensors.push_back(std::move(tensor));
  }

  void argument(const JsonValue& value, std::string_view type) {
    using Kind = MsprobeArgument::Kind;
    if (!are_arguments_ || slot_.empty() || result_.arguments.size() == kMostArguments) return;
    MsprobeArgument argument;
    switch (value.kind) {
      case JsonKind::kNull: break;
      case JsonKind::kBool:
        argument.kind = Kind::kBool;
        argument.text = value.boolean ? "true" : "false";
        break;
      case JsonKind::kNumber:
      case JsonKind::kString:
        argument.kind = value.is(JsonKind::kNumber) ? Kind::kNumber : Kind::kText;
        argument.text = value.text;
        break;
      case JsonKind::kArray:
        argument.kind = Kind::kList;
        append_list(value, argument.text);
        break;
      case JsonKind::kObject: return;
    }
    if (argument.text.size() > kLongestArgument) return;
    if (type.ends_with(".ProcessGroup")) argument.kind = Kind::kGroup;
    argument.slot = slot_;
    argument.is_dtype = argument.kind == Kind::kText && is_dtype_name(type);
    result_.arguments.push_back(std::move(argument));
  }

  bool read_leaf(const JsonValue& value, const JsonValue& dtype, MsprobeTensor& tensor) {
    if (slot_.empty() && io_ != MsprobeIo::kDebug) return bad(value, "a tensor outside of a list or dict");
    if (!dtype.is(JsonKind::kString)) return bad(dtype, "dtype is not a string");
    tensor.op_name = name_;
    tensor.op_type = op_type_;
    tensor.io = io_;
    tensor.slot = slot_;
    tensor.offset = value.offset;
    tensor.dtype_text = dtype.text;
    tensor.dtype = dtype_of(dtype.text);
    if (!shape(value.find("shape"), tensor.shape)) return false;
    // What is wrong with these does not take the tensor away.
    statistic(value, "Max", tensor.max);
    statistic(value, "Min", tensor.min);
    statistic(value, "Mean", tensor.mean);
    statistic(value, "Norm", tensor.norm);
    checksum(value, tensor.md5);
    text(value, "data_name", tensor.data_name);
    requires_grad(value, tensor.requires_grad);
    return true;
  }

  bool shape(const JsonValue* value, std::optional<Shape>& shape) {
    if (value == nullptr || value->is(JsonKind::kNull)) return true;
    const bool listed = value->is(JsonKind::kArray) && value->items.size() <= kMaxRank;
    if (!listed) return bad(*value, "shape is not a list of at most 64 numbers");
    shape.emplace();
    for (const JsonValue& item : value->items) {
      const auto dim = item.as_int();
      if (!dim || *dim < 0) return bad(item, "a dimension of the shape is not a number");
      shape->push_back(*dim);
    }
    return true;
  }

  static bool take_number(const JsonValue& value, std::optional<std::string>& into) {
    if (value.is(JsonKind::kBool)) into = value.boolean ? "true" : "false";
    if (value.is(JsonKind::kNumber)) into = value.text;
    // Tools that rewrite the file with a strict JSON writer must quote these.
    for (const std::string_view special : {"NaN", "Infinity", "-Infinity", "inf", "-inf"}) {
      if (value.is(JsonKind::kString) && equals_ignoring_case(value.text, special)) into = special;
    }
    return into.has_value();
  }

  void statistic(const JsonValue& leaf, std::string_view key, std::optional<std::string>& into) {
    const JsonValue* value = leaf.find(key);
    if (value == nullptr || value->is(JsonKind::kNull) || take_number(*value, into)) return;
    bad(*value, fmt::format("{} is not a number", key));
  }

  // With summary_mode xor, the checksum of a 0-d tensor is its value.
  void checksum(const JsonValue& leaf, std::optional<std::string>& into) {
    const JsonValue* value = leaf.find("md5");
    if (value == nullptr || !take_number(*value, into)) text(leaf, "md5", into);
  }

  void text(const JsonValue& leaf, std::string_view key, std::optional<std::string>& into) {
    const JsonValue* value = leaf.find(key);
    if (value == nullptr || value->is(JsonKind::kNull)) return;
    if (value->is(JsonKind::kString)) {
      into = value->text;
    } else {
      bad(*value, fmt::format("{} is not a string", key));
    }
  }

  void requires_grad(const JsonValue& leaf, std::optional<bool>& into) {
    const JsonValue* value = leaf.find("requires_grad");
    if (value == nullptr || value->is(JsonKind::kNull)) return;
    if (value->is(JsonKind::kBool)) {
      into = value->boolean;
    } else {
      bad(*value, "requires_grad is neither true nor false");
    }
  }

  // Returns false, so that callers can return it.
  bool bad(const JsonValue& at, std::string_view what, ErrorCode code = ErrorCode::kBadJson) {
    if (result_.problem) return false;
    const std::string place = slot_.empty() ? "" : fmt::format(" {} {}", name_of(io_), excerpt(slot_));
    result_.problem = make_error(code, "{}{}: {}", excerpt(name_), place, what).with_offset(at.offset);
    return false;
  }

  const std::string& name_;
  std::string_view op_type_;
  MsprobeIo io_ = MsprobeIo::kInput;
  std::string slot_;
  bool has_steps_ = false, are_arguments_ = false;
  DumpEntry result_;
};

}  // namespace

DumpEntry read_dump_entry(const std::string& name, const JsonValue& value) { return EntryReader(name).read(value); }

}  // namespace msdump
