#include "msprobe/dump_pkl.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "io/dir_walk.h"
#include "io/json.h"
#include "msprobe/json_text.h"
#include "msprobe/names.h"
#include "msprobe/stack_collector.h"

namespace msdump {
namespace {

constexpr std::string_view kStack = "_stack_info";
constexpr size_t kTensorItems = 6, kStackItems = 2, kLongestScalar = 256;

std::optional<Shape> shape_of(const JsonValue& value) {
  if (!value.is(JsonKind::kArray) || value.items.size() > kMaxRank) return std::nullopt;
  Shape shape;
  for (const JsonValue& item : value.items) {
    const auto size = item.as_int();
    if (!size || *size < 0) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

class PklReader {
 public:
  PklReader(std::string_view text, const DumpJsonLimits& limits) : text_(text), limits_(limits), problems_(text) {}

  Result<DumpJson> run(const std::string& path) {
    result_.framework = "pytorch";
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      if (skip_json_space(text_.substr(0, end), begin) < end) MSDUMP_CHECK_OK(in_path(line(begin, end), path));
      begin = end + 1;
    }
    result_.entries = static_cast<int64_t>(orders_.size());
    result_.problems = problems_.take(path);
    return std::move(result_);
  }

 private:
  static Status in_path(Status status, const std::string& path) {
    return status ? std::move(status) : fail(std::move(status).error().with_path(path));
  }

  Status bad(size_t offset, std::string_view what) {
    problems_.add(make_error(ErrorCode::kBadJson, "{}", what).with_offset(0), offset);
    return {};
  }

  Status line(size_t begin, size_t end) {
    if (end - begin > limits_.entry) return bad(begin, fmt::format("the line has {} bytes", end - begin));
    const auto row = parse_json_or_fault(text_.substr(begin, end - begin));
    if (!row) return bad(begin + row.error().offset, row.error().reason);
    const auto& items = row->items;
    if (items.size() < kStackItems || !items[0].is(JsonKind::kString)) return bad(begin, "no row of a tensor");
    if (items.size() == kStackItems && items[0].text.ends_with(kStack)) return {};
    const auto name = parse_ptdbg_name(items[0].text);
    if (!name) return bad(begin, fmt::format("{}: the name has no known form", excerpt(items[0].text)));
    if (items.size() != kTensorItems || !items[3].is(JsonKind::kString) || !items[5].is(JsonKind::kArray))
      return bad(begin, fmt::format("{}: not the six values of a tensor", excerpt(items[0].text)));
    if (items[3].text.starts_with("<class")) return argument(*name, items[5]);
    const auto shape = shape_of(items[4]);
    if (!shape) return bad(begin, fmt::format("{}: shape is not a list of numbers", excerpt(items[0].text)));
    return tensor(*name, *row, *shape, begin);
  }

  // The place of the call in the order of execution.
  int64_t order_of(const std::string& op_name) {
    const auto [found, is_new] = orders_.try_emplace(op_name, static_cast<int64_t>(orders_.size()));
    if (is_new) kept_ += sizeof(*found) + op_name.size();
    return found->second;
  }

  Status argument(const RespelledName& name, const JsonValue& values) {
    ++result_.others;
    if (name.io != MsprobeIo::kInput || !name.op_name.ends_with(".forward") || values.items.empty()) return {};
    const JsonValue& value = values.items.front();
    MsprobeArgument argument;
    argument.slot = name.slot;
    argument.kind = value.is(JsonKind::kBool) ? MsprobeArgument::Kind::kBool : MsprobeArgument::Kind::kNumber;
    argument.text = value.is(JsonKind::kBool) ? value.boolean ? "true" : "false" : value.text;
    const uint64_t bytes = sizeof(MsprobeCall) + name.op_name.size() + argument.slot.size() + argument.text.size();
    if (argument.text.empty() || argument.text.size() > kLongestScalar) return {};
    if ((kept_arguments_ += bytes) > limits_.arguments) return {};
    (void)order_of(name.op_name);
    if (result_.calls.empty() || result_.calls.back().op_name != name.op_name)
      result_.calls.push_back({name.op_name, {}});
    result_.calls.back().arguments.push_back(std::move(argument));
    return {};
  }

  Status tensor(const RespelledName& name, const JsonValue& row, const Shape& shape, size_t begin) {
    MsprobeTensor tensor;
    tensor.op_name = name.op_name;
    tensor.op_type = name.op_type;
    tensor.io = name.io;
    tensor.slot = name.slot;
    tensor.type = "torch.Tensor";
    tensor.dtype_text = row.items[3].text;
    tensor.dtype = dtype_from_qualified_name(tensor.dtype_text);
    tensor.shape = shape;
    tensor.order = order_of(name.op_name);
    tensor.offset = begin;
    if (row.items[2].is(JsonKind::kString)) tensor.md5 = row.items[2].text;
    if (is_plain_file_name(row.items[0].text)) tensor.data_name = row.items[0].text + ".npy";
    const std::array numbers = {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm};
    const auto& values = row.items[5].items;
    for (size_t i = 0; i < std::min(values.size(), numbers.size()); ++i) {
      if (values[i].is(JsonKind::kNumber)) *numbers[i] = values[i].text;
      if (values[i].is(JsonKind::kBool)) *numbers[i] = values[i].boolean ? "true" : "false";
    }
    return add_tensor(std::move(tensor), result_, kept_, limits_.kept);
  }

  std::string_view text_;
  const DumpJsonLimits& limits_;
  JsonProblems problems_;
  DumpJson result_;
  std::unordered_map<std::string, int64_t> orders_;
  uint64_t kept_ = 0, kept_arguments_ = 0;
};

class PklStackReader {
 public:
  PklStackReader(std::string_view text, const StackJsonLimits& limits)
      : text_(text), limits_(limits), stacks_(limits), problems_(text) {}

  Result<StackJson> run(const std::string& path) {
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::string_view line = text_.substr(begin, end - begin);
      if (const size_t name = line.find('"'); name != line.npos && is_stack(line.substr(name + 1))) {
        row(line, begin);
        MSDUMP_CHECK_OK(stacks_.check_kept());
      }
      begin = end + 1;
    }
    stacks_.result().problems = problems_.take(path);
    return std::move(stacks_.result());
  }

 private:
  // Other rows are not parsed. No name of an operator has a quote.
  static bool is_stack(std::string_view name) {
    return name.substr(0, std::min(name.find('"'), name.size())).ends_with(kStack);
  }

  void bad(size_t offset, std::string_view what) {
    problems_.add(make_error(ErrorCode::kBadJson, "{}", what).with_offset(0), offset);
  }

  void row(std::string_view line, size_t begin) {
    if (line.size() > limits_.entry) return bad(begin, fmt::format("the line has {} bytes", line.size()));
    const auto row = parse_json_or_fault(line);
    if (!row) return bad(begin + row.error().offset, row.error().reason);
    const auto& items = row->items;
    if (items.size() != kStackItems || !items[0].is(JsonKind::kString) || !items[1].is(JsonKind::kArray))
      return bad(begin, "no row of a call stack");
    const std::string_view call = std::string_view(items[0].text).substr(0, items[0].text.size() - kStack.size());
    const auto name = parse_ptdbg_name(std::string(call) + "_input.0");
    if (!name) return bad(begin, fmt::format("{}: the name has no known form", excerpt(items[0].text)));
    ++stacks_.result().entries;
    if (!name->op_name.ends_with(".forward")) return;
    std::vector<std::string> frames;
    for (const JsonValue& frame : items[1].items) {
      auto text = text_of(frame);
      if (!text) return bad(begin, fmt::format("{}: a frame of no known form", excerpt(items[0].text)));
      frames.push_back(std::move(*text));
    }
    const std::vector<std::string_view> views(frames.begin(), frames.end());
    stacks_.add_op(name->op_name, begin, stacks_.add_stack(views));
  }

  // As stack.json has it.
  static std::optional<std::string> text_of(const JsonValue& frame) {
    constexpr size_t kItems = 4;
    if (frame.is(JsonKind::kString)) return frame.text;
    if (!frame.is(JsonKind::kArray) || frame.items.size() != kItems) return std::nullopt;
    const auto is_text = [](const JsonValue& item) {
      return item.is(JsonKind::kString) || item.is(JsonKind::kNumber) || item.is(JsonKind::kNull);
    };
    if (!std::all_of(frame.items.begin(), frame.items.end(), is_text)) return std::nullopt;
    return fmt::format("File {}, line {}, in {}, \n {}", frame.items[0].text, frame.items[1].text, frame.items[2].text,
                       frame.items[3].text);
  }

  std::string_view text_;
  const StackJsonLimits& limits_;
  StackCollector stacks_;
  JsonProblems problems_;
};

}  // namespace

bool is_dump_pkl_name(std::string_view file_name) {
  constexpr std::string_view kEnd = "dump.pkl";
  // The writer prefixes the name with the mode of the dump.
  static constexpr std::array<std::string_view, 8> kModes = {"",       "all_",   "api_stack_", "api_list_",
                                                             "stack_", "range_", "list_",      "acl_"};
  if (file_name.starts_with("scope_dump_") && file_name.ends_with(".pkl")) return true;
  if (!file_name.ends_with(kEnd)) return false;
  const std::string_view mode = file_name.substr(0, file_name.size() - kEnd.size());
  return std::find(kModes.begin(), kModes.end(), mode) != kModes.end();
}

bool looks_like_dump_pkl(std::string_view line) {
  const size_t begin = line.find_first_not_of(" [");
  const bool listed = line.starts_with('[') && begin != std::string_view::npos && line[begin] == '"';
  const std::string_view name = listed ? line.substr(begin + 1, line.find('"', begin + 1) - begin - 1) : "";
  return name.ends_with(kStack) || parse_ptdbg_name(name).has_value();
}

Result<DumpJson> read_dump_pkl(const File& file, const DumpJsonLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a dump.pkl"));
  return PklReader(text.view(), limits).run(file.path());
}

bool has_stacks(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.find(std::string(kStack) + '"') != text.npos;
}

Result<StackJson> read_dump_pkl_stacks(const File& file, const StackJsonLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a dump.pkl"));
  return in_file(PklStackReader(text.view(), limits).run(file.path()), file.path());
}

}  // namespace msdump
