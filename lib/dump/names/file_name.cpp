#include "dump/names/file_name.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/text.h"

namespace msdump {
namespace {

using Fields = std::vector<std::string_view>;

constexpr size_t kShortestTimestamp = 10;

// Fields [begin, end) with the dots between them.
std::string_view join(std::span<const std::string_view> fields, size_t begin, size_t end) {
  if (begin >= end) return {};
  const char* const first = fields[begin].data();
  return {first, static_cast<size_t>(fields[end - 1].data() + fields[end - 1].size() - first)};
}

// The fields of `name`, in memory that is reused: names are parsed by the hundred thousand.
Fields& fields_of(std::string_view name) {
  thread_local Fields fields;
  fields.clear();
  for (size_t begin = 0;;) {
    const size_t dot = name.find('.', begin);
    fields.push_back(name.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return fields;
    begin = dot + 1;
  }
}

std::optional<Io> parse_io(std::string_view word) {
  if (word == "input") return Io::kInput;
  if (word == "output") return Io::kOutput;
  return std::nullopt;
}

// Numbers, or FFTSPLUS and numbers: at most four fields may follow the time stamp.
bool is_tail(std::span<const std::string_view> fields, size_t begin) {
  if (fields.size() - begin > 4) return false;
  for (size_t i = begin; i < fields.size(); ++i) {
    if (!is_digits(fields[i]) && !(i == begin && fields[i] == "FFTSPLUS")) return false;
  }
  return true;
}

// The index of the time stamp: the last long number with a valid tail, else (short clocks) the third of the numbers at
// the end of a name of exactly the usual form.
std::optional<size_t> find_timestamp(std::span<const std::string_view> fields) {
  for (size_t i = fields.size(); i-- > 3;) {
    if (is_digits(fields[i]) && fields[i].size() >= kShortestTimestamp && is_tail(fields, i + 1)) return i;
  }
  const bool usual = fields.size() == 5 && is_digits(fields[2]) && is_digits(fields[3]) && is_digits(fields[4]);
  return usual ? std::optional<size_t>(4) : std::nullopt;
}

// "Default_Add-op12"
bool has_op_number(std::string_view name) {
  const size_t mark = name.rfind("-op");
  return mark != std::string_view::npos && is_digits(name.substr(mark + 3));
}

std::optional<DumpFileName> parse_op_fields(std::span<const std::string_view> fields) {
  const auto timestamp = find_timestamp(fields);
  if (!timestamp) return std::nullopt;
  // task [stream], perhaps after a dump number; at least type and name must be left. Parameters have no dump number,
  // and their names may end in a number of their own ("Parameter.layers.3.0.0.TIME").
  const size_t most = fields[0] == "Parameter" ? 2 : 3;
  size_t numbers = 0;
  while (numbers < most && *timestamp >= numbers + 3 && is_digits(fields[*timestamp - 1 - numbers])) ++numbers;
  if (numbers == 0) return std::nullopt;
  DumpFileName name;
  name.timestamp = fields[*timestamp];
  const size_t first = *timestamp - numbers;
  const size_t task = numbers == 3 ? first + 1 : first;
  name.task_id = parse_i64(fields[task]);
  if (task + 1 < *timestamp) name.stream_id = parse_i64(fields[task + 1]);
  name.op_type = fields[0];
  name.op_name = join(fields, 1, first);
  // MindSpore 2.3 swaps type and name of aclnn operators. Only a name has a number after "-op", and no type has a dot.
  const bool could_be_type = !name.op_name.empty() && name.op_name.find('.') == std::string_view::npos;
  if (could_be_type && has_op_number(name.op_type) && !has_op_number(name.op_name))
    std::swap(name.op_type, name.op_name);
  return name;
}

// Operator, io, slot, format and perhaps dtype.
std::optional<NpyFileName> parse_tensor_fields(std::span<const std::string_view> fields) {
  for (size_t io_at = fields.size() - 3; io_at + 4 >= fields.size() && io_at >= 4; --io_at) {
    const auto io = parse_io(fields[io_at]);
    if (!io || !is_digits(fields[io_at + 1])) continue;
    const auto op = parse_op_fields(fields.first(io_at));
    if (!op) return std::nullopt;
    NpyFileName result;
    result.op = *op;
    result.io = *io;
    result.slot = fields[io_at + 1];
    result.format_text = fields[io_at + 2];
    result.format = format_from_name(fields[io_at + 2]);
    if (io_at + 3 < fields.size()) result.dtype = dtype_from_name(fields[io_at + 3]);
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::optional<DumpFileName> parse_dump_file_name(std::string_view name) {
  Fields& fields = fields_of(name);
  const auto parsed = parse_op_fields(fields);
  if (parsed || fields.size() < 2) return parsed;
  // Any suffix may follow (".bin").
  if (is_digits(fields.back()) || is_known_other_suffix(suffix_of(name))) return std::nullopt;
  fields.pop_back();
  return parse_op_fields(fields);
}

std::optional<NpyFileName> parse_npy_file_name(std::string_view name) {
  Fields& fields = fields_of(name);
  if (fields.size() < 6 || !has_suffix(name, ".npy")) return std::nullopt;
  fields.pop_back();
  return parse_tensor_fields(fields);
}

std::optional<NpyFileName> parse_raw_file_name(std::string_view name) {
  const Fields& fields = fields_of(name);
  if (fields.size() < 8 || !dtype_from_name(fields.back())) return std::nullopt;
  auto parsed = parse_tensor_fields(fields);
  return parsed && parsed->dtype ? parsed : std::nullopt;
}

std::optional<RawBinFileName> parse_raw_bin_file_name(std::string_view name) {
  constexpr std::string_view kSuffix = ".bin", kShapeMark = "_shape_", kOldTypePrefix = "kNumberType";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const size_t mark = name.rfind(kShapeMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const Fields front = split(name.substr(0, mark), '_');
  if (front.size() < 3 || !is_digits(front.back())) return std::nullopt;
  const auto io = parse_io(front[front.size() - 2]);
  if (!io) return std::nullopt;
  RawBinFileName result;
  result.io = *io;
  result.slot = front.back();
  const size_t name_bytes = mark - front.back().size() - front[front.size() - 2].size() - 2;
  result.op_name = name.substr(0, name_bytes);
  for (size_t at = result.op_name.find("--"); at != std::string::npos; at = result.op_name.find("--", at + 1)) {
    result.op_name.replace(at, 2, "/");
  }
  const Fields back = split(name.substr(mark + kShapeMark.size()), '_');
  size_t dims = 0;
  while (dims < back.size() && is_digits(back[dims])) ++dims;
  if (dims == 0 || dims >= back.size() || dims > kMaxRank) return std::nullopt;
  for (size_t i = 0; i < dims; ++i) {
    const auto dim = parse_i64(back[i]);
    if (!dim) return std::nullopt;
    result.shape.push_back(*dim);
  }
  if (result.shape == Shape{0}) result.shape.clear();  // how a scalar is written
  std::string_view dtype = back[dims];
  if (dtype.starts_with(kOldTypePrefix)) dtype.remove_prefix(kOldTypePrefix.size());
  const auto known = dtype_from_name(dtype);
  if (!known) return std::nullopt;
  result.dtype = *known;
  std::string format;
  for (size_t i = dims + 1; i < back.size(); ++i) format += (format.empty() ? "" : "_") + std::string(back[i]);
  result.format = format_from_name(format);
  return result;
}

std::string suffix_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : to_lower(name.substr(dot + 1));
}

bool has_suffix(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() && equals_ignoring_case(name.substr(name.size() - suffix.size()), suffix);
}

bool is_known_other_suffix(std::string_view suffix) {
  constexpr std::array<std::string_view, 32> kSuffixes = {
      "air",  "cfg",   "ckpt", "csv", "dat",    "db",   "dot",  "gz",  "h5",    "html", "ir",
      "json", "jsonl", "log",  "md",  "mindir", "onnx", "om",   "pb",  "pbtxt", "png",  "pt",
      "pth",  "py",    "sh",   "so",  "svg",    "txt",  "xlsx", "xml", "yaml",  "yml"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

}  // namespace msdump
