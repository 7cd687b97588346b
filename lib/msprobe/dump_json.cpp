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
#include "io/dir_walk.h"
#include "io/file.h"
#include "io/json.h"
#include "msprobe/json_text.h"
#include "report/json.h"

namespace msdump {
namespace {

// The tensors and arguments of one entry of dump.json or debug.json.
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

bool is_dtype_name(std::string_view type) { return type.ends_with(".dtype"); }

// Types whose values mean the same in every process: not a device or a process group.
bool is_plain_type(std::string_view type) {
  static constexpr std::array<std::string_view, 9> kTypes = {
      "int", "float", "bool", "str", "complex", "slice", "Ellipsis", "ellipsis", "torch.memory_format"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end() || is_dtype_name(type) ||
         type.ends_with(".Size") || type.ends_with(".ReduceOp");
}

// "[1,null,2]"; cut short if it is too long to be kept.
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

// Appends a value as compact JSON; stops early at a value that is too long to be kept.
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

// Reads one entry into its values.
class EntryReader : DumpLeafWalk {
 public:
  explicit EntryReader(const std::string& name) : DumpLeafWalk(kMaxSlot + 1), name_(name) {}

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

  void scalar(const JsonValue& value) override {
    ++result_.others;
    if (value.is(JsonKind::kNull)) argument(value, {});
  }

  // Every tensor gets a copy of the slot.
  void too_long(const JsonValue& value) override { bad(value, "the name of the argument is too long"); }

  // The path without its leading dot.
  [[nodiscard]] std::string_view slot() const {
    return path_.empty() ? std::string_view() : std::string_view(path_).substr(1);
  }

  void leaf(const JsonValue& value, const std::string& type) override {
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
    if (!are_arguments_ || slot().empty() || result_.arguments.size() == kMostArguments) return;
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
    argument.slot = slot();
    argument.is_dtype = argument.kind == Kind::kText && is_dtype_name(type);
    result_.arguments.push_back(std::move(argument));
  }

  bool read_leaf(const JsonValue& value, const JsonValue& dtype, MsprobeTensor& tensor) {
    if (slot().empty() && io_ != MsprobeIo::kDebug) return bad(value, "a tensor outside of a list or dict");
    if (!dtype.is(JsonKind::kString)) return bad(dtype, "dtype is not a string");
    tensor.op_name = name_;
    tensor.op_type = op_type_;
    tensor.io = io_;
    tensor.slot = slot();
    tensor.offset = value.offset;
    tensor.dtype_text = dtype.text;
    tensor.dtype = dtype_from_qualified_name(dtype.text);
    if (!shape(value.find("shape"), tensor.shape)) return false;
    // A fault in one of these does not discard the tensor.
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

  // The checksum of a 0-d tensor is its value with summary_mode xor.
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
    const std::string place = slot().empty() ? "" : fmt::format(" {} {}", name_of(io_), excerpt(slot()));
    result_.problem = make_error(code, "{}{}: {}", excerpt(name_), place, what).with_offset(at.offset);
    return false;
  }

  const std::string& name_;
  std::string_view op_type_;
  MsprobeIo io_ = MsprobeIo::kInput;
  bool are_arguments_ = false;
  DumpEntry result_;
};

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

// Collects the values of all entries.
class ValueReader : public DumpJsonView {
 public:
  explicit ValueReader(const DumpJsonLimits& limits) : limits_(limits) {}

  void begin() override {
    result_ = DumpJson();
    kept_ = kept_calls_ = 0;
  }

  Status entry(const DumpJsonEntry& entry) override {
    const JsonMemberPlace& member = entry.place;
    DumpEntry read = EntryReader(member.key).read(entry.value);
    result_.others += read.others;
    if (read.problem) entry.problems.add(std::move(*read.problem), member.begin);
    for (MsprobeTensor& tensor : read.tensors) {
      share_distribution(tensor);
      tensor.order = entry.order;
      tensor.offset += member.begin;
      MSDUMP_CHECK_OK(add_tensor(std::move(tensor), result_, kept_, limits_.kept));
    }
    if (read.has_overflow) {
      kept_ += sizeof(MsprobeOverflow) + member.key.size();
      result_.overflows.push_back({member.key, read.overflow, entry.order});
    }
    if (!read.arguments.empty()) add_call({member.key, std::move(read.arguments)});
    return {};
  }

  DumpJson take(DumpJsonHead&& head) {
    static_cast<DumpJsonHead&>(result_) = std::move(head);
    return std::move(result_);
  }

 private:
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

  const DumpJsonLimits& limits_;
  DumpJson result_;
  std::map<std::string, std::shared_ptr<const std::string>> distributions_;
  uint64_t kept_ = 0, kept_calls_ = 0;
};

Result<DumpJsonHead> read_members_of(std::string_view text, const DumpJsonLimits& limits, DumpJsonView& view,
                                     JsonProblems& problems) {
  DumpJsonHead head;
  JsonMemberReader members(text, 0);
  std::optional<size_t> data_at;
  for (;;) {
    MSDUMP_TRY(const auto member, members.next());
    if (!member) break;
    if (member->key == "data") data_at = member->begin;
    if (member->key == "data" && text[member->begin] == '{') {
      problems.clear();
      head.entries = 0;
      view.begin();
      MSDUMP_CHECK_OK(read_json_entries_at(text, member->begin, limits.entry, problems, head.entries,
                                           [&](const JsonMemberPlace& place, const JsonValue& value) {
                                             return view.entry({place, value, head.entries, problems});
                                           }));
      continue;
    }
    if (member->end - member->begin > limits.entry) {
      return fail(make_error(ErrorCode::kTooLarge, "the value of \"{}\" takes {} bytes", excerpt(member->key),
                             member->end - member->begin)
                      .with_offset(member->begin));
    }
    MSDUMP_TRY(auto value, parse_json_at(text, member->begin, member->end));
    for (const auto& [key, into] : {std::pair("task", &DumpJsonHead::task), std::pair("level", &DumpJsonHead::level),
                                    std::pair("framework", &DumpJsonHead::framework)}) {
      if (member->key == key && value.is(JsonKind::kString)) head.*into = std::move(value.text);
    }
  }
  MSDUMP_CHECK_OK(members.check_end());
  if (!data_at) return bad_json(text, 0, "no \"data\": this is not a dump.json of msprobe");
  if (text[*data_at] != '{') return bad_json(text, *data_at, "\"data\" is not an object");
  return head;
}

// A text as "type" or "class_type".
const JsonValue* text_member(const JsonValue& dict, std::string_view key) {
  const JsonValue* const member = dict.find(key);
  return member != nullptr && member->is(JsonKind::kString) ? member : nullptr;
}

}  // namespace

void DumpLeafWalk::walk(const JsonValue& value) {
  if (value.is(JsonKind::kArray)) {
    size_t index = 0;
    for (const JsonValue& item : value.items) {
      if (lists_are_named_) {
        step(std::to_string(index++), item);
      } else {
        walk(item);
      }
    }
  } else if (!value.is(JsonKind::kObject)) {
    scalar(value);
  } else if (const JsonValue* type = text_member(value, "type")) {
    leaf(value, type->text);
  } else if (text_member(value, "class_type") != nullptr) {
    if (const JsonValue* tensor = value.find("tensor")) walk(*tensor);
  } else {
    // If two members have one name, Python keeps the later value at the place of the earlier.
    std::unordered_map<std::string_view, const JsonValue*> last;
    for (const JsonMember& member : value.members) last[member.key] = &member.value;
    for (const JsonMember& member : value.members) {
      if (const JsonValue* const next = std::exchange(last[member.key], nullptr)) step(member.key, *next);
    }
  }
}

void DumpLeafWalk::step(std::string_view key, const JsonValue& value) {
  const size_t length = path_.size();
  path_ += '.';
  path_ += key;
  if (path_.size() <= longest_path_) {
    walk(value);
  } else {
    too_long(value);
  }
  path_.resize(length);
}

Status add_tensor(MsprobeTensor tensor, DumpJson& json, uint64_t& kept, uint64_t most) {
  kept += kept_by(tensor);
  if (kept > most) {
    return fail(ErrorCode::kTooLarge, "more than {} tensors: they do not fit into {} bytes of memory",
                json.tensors.size(), most);
  }
  json.tensors.push_back(std::move(tensor));
  return {};
}

std::optional<double> statistic_value(std::string_view text) {
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  JsonValue number;
  number.kind = JsonKind::kNumber;
  number.text = text;
  return number.as_double();
}

Result<DumpJsonHead> read_dump_json(const File& file, const DumpJsonLimits& limits, DumpJsonView& view) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a dump.json"));
  JsonProblems problems(text.view());
  auto head = in_file(read_members_of(text.view(), limits, view, problems), file.path());
  if (head) head->problems = problems.take(file.path());
  return head;
}

Result<DumpJson> read_dump_json(const File& file, const DumpJsonLimits& limits) {
  ValueReader reader(limits);
  MSDUMP_TRY(DumpJsonHead head, read_dump_json(file, limits, reader));
  return reader.take(std::move(head));
}

}  // namespace msdump
