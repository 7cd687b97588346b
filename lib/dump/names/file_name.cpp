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

// The fields of `name`, in memory that the next call reuses: a dump has a hundred thousand names.
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

// True for fields that may follow the time stamp: at most four numbers, the first of which may be FFTSPLUS.
bool is_tail(std::span<const std::string_view> fields, size_t begin) {
  if (fields.size() - begin > 4) return false;
  for (size_t i = begin; i < fields.size(); ++i) {
    if (!is_digits(fields[i]) && !(i == begin && fields[i] == "FFTSPLUS")) return false;
  }
  return true;
}

// The index of the time stamp: the last long number with a valid tail. A short clock is accepted only at the end of
// type.name.task.stream.time.
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
  constexpr std::array<std::string_view, 34> kSuffixes = {
      "distcp", "metadata", "air",   "cfg", "ckpt", "csv",    "dat",  "db",  "dot",  "gz",    "h5",  "html",
      "ir",     "json",     "jsonl", "log", "md",   "mindir", "onnx", "om",  "pb",   "pbtxt", "png", "pt",
      "pth",    "py",       "sh",    "so",  "svg",  "txt",    "xlsx", "xml", "yaml", "yml"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

namespace {

// Takes "{separator}{rest}" off the end of `text`; none if there is no separator.
std::optional<std::string_view> take_last(std::string_view& text, char separator) {
  const size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view last = text.substr(at + 1);
  text = text.substr(0, at);
  return last;
}

std::optional<std::string_view> take_last_number(std::string_view& text, char separator) {
  std::string_view rest = text;
  const auto last = take_last(rest, separator);
  if (!last || !is_digits(*last)) return std::nullopt;
  text = rest;
  return last;
}

std::optional<Io> io_of(std::string_view word) {
  if (word == "INPUT") return Io::kInput;
  if (word == "OUTPUT") return Io::kOutput;
  return std::nullopt;
}

}  // namespace

std::optional<FxFileName> parse_fx_file_name(std::string_view name) {
  constexpr size_t kTimeDigits = 20;  // to the microsecond
  constexpr std::string_view kSuffix = ".npy";
  if (!has_suffix(name, kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto time = take_last_number(name, '.');
  if (!time || time->size() != kTimeDigits) return std::nullopt;
  const auto last = take_last_number(name, '.');
  if (!last) return std::nullopt;
  FxFileName result;
  result.timestamp = *time;
  result.slot = *last;
  if (const auto first = take_last_number(name, '.')) result.slot = {first->data(), first->size() + 1 + last->size()};
  const auto io_word = take_last(name, '.');
  const auto io = io_word ? io_of(*io_word) : std::nullopt;
  const size_t dash = name.find('-');  // a node is a Python identifier
  if (!io || dash == std::string_view::npos || dash == 0 || dash + 1 == name.size()) return std::nullopt;
  result.io = *io;
  result.node = name.substr(0, dash);
  result.target = name.substr(dash + 1);
  return result;
}

std::optional<CountedName> parse_torch_npu_name(std::string_view stem) {
  constexpr std::string_view kMark = "_device_";
  const size_t mark = stem.rfind(kMark);
  if (mark == std::string_view::npos || mark == 0) return std::nullopt;
  CountedName result;
  result.name = stem.substr(0, mark);
  result.device = stem.substr(mark + kMark.size());
  if (const auto number = take_last_number(result.device, '_')) result.number = *number;
  if (!is_digits(result.device)) return std::nullopt;
  return result;
}

std::optional<CountedName> parse_numbered_name(std::string_view stem) {
  const auto number = take_last_number(stem, '_');
  if (!number || stem.empty()) return std::nullopt;
  return CountedName{stem, {}, *number, DType::kUndefined};
}

std::optional<CountedName> parse_leading_number(std::string_view stem) {
  constexpr std::string_view kSeparators = "_-.";
  std::string_view rest = stem;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!rest.empty() && is_letter(rest.front())) rest.remove_prefix(1);
  const std::string_view number = rest.substr(0, rest.find_first_not_of("0123456789"));
  rest.remove_prefix(number.size());
  const size_t name = rest.find_first_not_of(kSeparators);
  if (number.empty() || name == 0 || name == std::string_view::npos) return std::nullopt;
  return CountedName{rest.substr(name), {}, number, DType::kUndefined};
}

std::optional<CountedName> parse_tensor_dump_name(std::string_view stem) {
  auto result = parse_numbered_name(stem);
  if (!result) return std::nullopt;
  const auto word = take_last(result->name, '_');
  const auto dtype = word ? dtype_from_name(*word) : std::nullopt;
  // MindSpore writes its own spelling.
  if (!dtype || name_of(*dtype) != *word || result->name.empty()) return std::nullopt;
  result->dtype = *dtype;
  return result;
}

namespace {

// Takes ".{rest}" off the end of `text`; empty if nothing would be left.
std::string_view take_field(std::string_view& text) {
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view field = text.substr(dot + 1);
  text = text.substr(0, dot);
  return field;
}

std::optional<Shape> parse_dims(std::string_view text, char separator) {
  constexpr size_t kMostDigits = 18;  // of a dimension
  if (text == "scalar") return Shape();
  Shape shape;
  for (const std::string_view part : split(text, separator)) {
    const auto dim = part.size() <= kMostDigits && is_digits(part) ? parse_i64(part) : std::nullopt;
    if (!dim || shape.size() == kMaxRank) return std::nullopt;
    shape.push_back(*dim);
  }
  return shape;
}

// A number of ten digits is a time (name.index.time.npy of msaccucmp).
bool is_npy_dims(std::string_view text) { return !(is_digits(text) && text.size() >= 10) && parse_dims(text, 'x'); }

// FILE.io.slot
bool take_tensor(std::string_view text, ConvertedName& name) {
  name.slot = take_field(text);
  const std::string_view io = take_field(text);
  for (const Io known : {Io::kInput, Io::kOutput, Io::kBuffer, Io::kSpace}) {
    if (io != name_of(known)) continue;
    name.io = known;
    name.file = text;
    return is_digits(name.slot);
  }
  return false;
}

// FILE.PARAMETER
bool take_parameter(std::string_view text, ConvertedName& name) {
  for (const std::string_view suffix : {".safetensors.", ".ckpt.", ".npz."}) {
    const size_t at = text.find(suffix);
    if (at == std::string_view::npos || at == 0 || at + suffix.size() == text.size()) continue;
    name.io = Io::kParameter;
    name.slot = "0";
    name.parameter = text.substr(at + suffix.size());
    return true;
  }
  return false;
}

bool take_subject(std::string_view text, ConvertedName& name) {
  return take_tensor(text, name) || take_parameter(text, name);
}

std::optional<std::string_view> stem_of(std::string_view name, std::string_view suffix) {
  if (!has_suffix(name, suffix)) return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

}  // namespace

std::optional<ConvertedName> parse_converted_npy_name(std::string_view file_name) {
  const auto stem = stem_of(file_name, ".npy");
  if (!stem) return std::nullopt;
  ConvertedName name;
  if (take_tensor(*stem, name)) return name;
  std::string_view rest = *stem;
  const std::string_view last = take_field(rest);
  name.format = format_from_name(last);
  if ((name.format || is_npy_dims(last)) && take_tensor(rest, name)) return name;
  name.dtype = dtype_from_name(last);
  if (name.dtype) {
    name.format = format_from_name(take_field(rest));
    if (name.format && take_tensor(rest, name)) return name;
  }
  ConvertedName parameter;
  if (take_parameter(*stem, parameter)) return parameter;
  return std::nullopt;
}

std::optional<ConvertedName> parse_converted_bin_name(std::string_view file_name) {
  auto stem = stem_of(file_name, ".bin");
  if (!stem) return std::nullopt;
  ConvertedName name;
  if (take_tensor(*stem, name) && (name.io == Io::kBuffer || name.io == Io::kSpace)) {
    name.dtype = DType::kUint8;
    return name;
  }
  name.format = format_from_name(take_field(*stem));
  name.dtype = dtype_from_name(take_field(*stem));
  name.shape = parse_dims(take_field(*stem), '_');
  if (!name.format || !name.dtype || !name.shape || !take_subject(*stem, name)) return std::nullopt;
  // Only ND has a count of elements, or a shape of one dimension.
  if (name.shape->size() == 1) name.format = Format::kND;
  return name;
}

std::string_view parameter_of(const ConvertedName& name, const Shape& shape) {
  std::string_view rest = name.parameter;
  const std::string_view last = take_field(rest);
  if (last.empty()) return name.parameter;
  if (last == describe(shape) || format_from_name(last)) return rest;
  std::string_view before = rest;
  if (dtype_from_name(last) && format_from_name(take_field(before))) return before;
  return name.parameter;
}

}  // namespace msdump
