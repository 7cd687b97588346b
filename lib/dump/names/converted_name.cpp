#include "dump/names/converted_name.h"

#include "base/text.h"
#include "dump/names/file_name.h"

namespace msdump {
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
  // A count of elements, or a shape of one dimension: no other format has that.
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
