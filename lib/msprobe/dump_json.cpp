#include "msprobe/dump_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "msprobe/json_text.h"
#include "report/json.h"

namespace msdump {
namespace {

// One entry of dump.json or debug.json, from its parsed value to its tensors; the form is in msprobe/dump_json.h.
struct DumpEntry {
  std::vector<MsprobeTensor> tensors;      // offsets count from the entry's value
  std::vector<MsprobeArgument> arguments;  // the first 256; no value of more than 256 bytes
  bool has_overflow = false;               // "is_nan", whose value is `overflow`
  std::optional<uint64_t> overflow;
  int64_t others = 0;
  // The first fault: its code, what it is (no position in the message), and the offset in the entry's value.
  std::optional<Error> problem;
};

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

DumpEntry read_dump_entry(const std::string& name, const JsonValue& value) { return EntryReader(name).read(value); }

uint64_t kept_by(const MsprobeTensor& tensor) {
  uint64_t bytes = sizeof(MsprobeTensor) + tensor.op_name.size() + tensor.op_type.size() + tensor.slot.size() +
                   tensor.type.size() + tensor.dtype_text.size();
  if (tensor.shape) bytes += tensor.shape->size() * sizeof(int64_t);
  for (const auto* text : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm, &tensor.md5, &tensor.data_name}) {
    if (*text) bytes += (*text)->size();
  }
  return bytes;
}

uint64_t kept_by(const MsprobeCall& call) {
  uint64_t bytes = sizeof(MsprobeCall) + call.op_name.size() + call.arguments.size() * sizeof(MsprobeArgument);
  for (const MsprobeArgument& argument : call.arguments) bytes += argument.slot.size() + argument.text.size();
  return bytes;
}

class DumpJsonReader {
 public:
  DumpJsonReader(std::string_view text, const DumpJsonLimits& limits) : text_(text), limits_(limits), problems_(text) {}

  Result<DumpJson> read(const std::string& path) {
    JsonMemberReader members(text_, 0);
    std::optional<size_t> data_at;
    for (;;) {
      MSDUMP_TRY(const auto member, members.next());
      if (!member) break;
      if (member->key == "data") data_at = member->begin;
      MSDUMP_CHECK_OK(top_level(*member));
    }
    MSDUMP_CHECK_OK(members.check_end());
    if (!data_at) return bad_json(text_, 0, "no \"data\": this is not a dump.json of msprobe");
    if (text_[*data_at] != '{') return bad_json(text_, *data_at, "\"data\" is not an object");
    result_.problems = problems_.take(path);
    return std::move(result_);
  }

 private:
  Status top_level(const JsonMemberPlace& member) {
    if (member.key == "data" && text_[member.begin] == '{') return data(member.begin);
    if (member.end - member.begin > limits_.entry) {
      return fail(make_error(ErrorCode::kTooLarge, "the value of \"{}\" takes {} bytes", excerpt(member.key),
                             member.end - member.begin)
                      .with_offset(member.begin));
    }
    MSDUMP_TRY(auto value, parse_json_at(text_, member.begin, member.end));
    for (const auto& [key, into] : {std::pair("task", &DumpJson::task), std::pair("level", &DumpJson::level),
                                    std::pair("framework", &DumpJson::framework)}) {
      if (member.key == key && value.is(JsonKind::kString)) result_.*into = std::move(value.text);
    }
    return {};
  }

  // When a key appears twice, the later one counts, as in Python.
  Status data(size_t begin) {
    result_.tensors.clear();
    result_.calls.clear();
    result_.overflows.clear();
    problems_.clear();
    result_.entries = result_.others = 0;
    kept_ = kept_calls_ = 0;
    return read_json_entries_at(
        text_, begin, limits_.entry, problems_, result_.entries,
        [this](const JsonMemberPlace& member, const JsonValue& value) { return entry(member, value); });
  }

  Status entry(const JsonMemberPlace& member, const JsonValue& value) {
    DumpEntry read = read_dump_entry(member.key, value);
    result_.others += read.others;
    if (read.problem) problems_.add(std::move(*read.problem), member.begin);
    for (MsprobeTensor& tensor : read.tensors) {
      share_distribution(tensor);
      kept_ += kept_by(tensor);
      if (kept_ > limits_.kept) {
        return fail(ErrorCode::kTooLarge, "more than {} tensors: they do not fit into {} bytes of memory",
                    result_.tensors.size(), limits_.kept);
      }
      tensor.order = result_.entries;
      tensor.offset += member.begin;
      result_.tensors.push_back(std::move(tensor));
    }
    if (read.has_overflow) {
      kept_ += sizeof(MsprobeOverflow) + member.key.size();
      result_.overflows.push_back({member.key, read.overflow, result_.entries});
    }
    if (!read.arguments.empty()) add_call({member.key, std::move(read.arguments)});
    return {};
  }

  void share_distribution(MsprobeTensor& tensor) {
    if (tensor.distribution == nullptr) return;
    const auto [known, is_new] = distributions_.try_emplace(*tensor.distribution, tensor.distribution);
    if (is_new) kept_ += 2 * known->first.size();
    tensor.distribution = known->second;
  }

  void add_call(MsprobeCall&& call) {
    kept_calls_ += kept_by(call);
    if (kept_calls_ <= limits_.arguments) result_.calls.push_back(std::move(call));
  }

  std::string_view text_;
  const DumpJsonLimits& limits_;
  DumpJson result_;
  JsonProblems problems_;
  std::map<std::string, std::shared_ptr<const std::string>> distributions_;
  uint64_t kept_ = 0, kept_calls_ = 0;
};

}  // namespace

std::optional<double> statistic_value(std::string_view text) {
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  JsonValue number;
  number.kind = JsonKind::kNumber;
  number.text = text;
  return number.as_double();
}

Result<DumpJson> read_dump_json(const File& file, const DumpJsonLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a dump.json"));
  return in_file(DumpJsonReader(text.view(), limits).read(file.path()), file.path());
}

}  // namespace msdump
