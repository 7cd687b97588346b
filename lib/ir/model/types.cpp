#include "ir/model/types.h"

#include <fmt/format.h>

#include "ir/model/scan.h"

namespace msdump {
namespace {

constexpr std::string_view kVector = "[const vector]";

bool is_word_char(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

size_t word_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && is_word_char(text[length])) ++length;
  return length;
}

// The content of the bracket that text begins with; everything after it if it is not closed. Removes it from `text`.
std::string_view take_bracket(std::string_view& text) {
  const size_t close = closing_bracket(text, 0);
  const std::string_view inside = text.substr(1, close == std::string_view::npos ? close : close - 1);
  text.remove_prefix(close == std::string_view::npos ? text.size() : close + 1);
  return inside;
}

// The numbers of "32, 3" and of "[0]:{32}, [1]:{3}"; nothing if there is anything else in it, or too many.
std::optional<Shape> parse_dims(std::string_view text) {
  Shape dims;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '[') {  // the index of a dimension
      i = text.find(']', i);
      if (i == std::string_view::npos) return std::nullopt;
      ++i;
    } else if (is_digit(c) || c == '-') {
      const bool negative = c == '-';
      int64_t value = 0;
      size_t digits = 0;
      for (i += negative ? 1 : 0; i < text.size() && is_digit(text[i]) && digits < 19; ++i, ++digits) {
        if (digits < 18) value = value * 10 + (text[i] - '0');
      }
      if (digits == 0 || digits > 18 || dims.size() == kMaxRank) return std::nullopt;
      dims.push_back(negative ? -value : value);
    } else if (c == ',' || c == ':' || c == '{' || c == '}' || is_blank(c)) {
      ++i;
    } else {
      return std::nullopt;
    }
  }
  if (dims.size() == 1 && dims[0] == -2) return std::nullopt;  // of unknown rank
  return dims;
}

// "(32, 3)", "[const vector][32, 3]", "[const vector]{32, 3}", "{shape:(32, -1)|min shape:..}".
std::optional<Shape> parse_shape(std::string_view text) {
  if (text.starts_with(kVector)) text.remove_prefix(kVector.size());
  if (text.starts_with("{shape:")) text.remove_prefix(7);
  if (text.empty() || !(text[0] == '(' || text[0] == '[' || text[0] == '{')) return std::nullopt;
  return parse_dims(take_bracket(text));
}

// The dtype of the elements in "Tensor[Float32]", "Tensor(F32)", "Ref[Tensor[Float32]]", and what follows it.
std::string_view unwrap_tensor(std::string_view text, IrType& type, std::string_view& rest_of_type) {
  constexpr int kMaxDepth = 4;  // Ref[Tensor[..]] is two
  rest_of_type = text;
  for (int depth = 0;; ++depth) {
    const size_t length = word_length(text);
    const std::string_view word = text.substr(0, length);
    std::string_view rest = text.substr(length);
    const bool wraps = (word == "Tensor" || word == "Ref") && !rest.empty() && (rest[0] == '[' || rest[0] == '(');
    if (!wraps || depth == kMaxDepth) return word;
    const std::string_view inside = take_bracket(rest);
    if (!type.is_tensor) rest_of_type = rest;
    type.is_tensor = true;
    text = inside;
  }
}

// "Float16xNC1HWC0[const vector][..]": the dtype ends at the first 'x' after a word without one.
bool parse_device(std::string_view inside, IrType& type) {
  const size_t vector = inside.find(kVector);
  if (vector == std::string_view::npos) return false;
  constexpr std::string_view kComplex = "Complex";
  const size_t cross = inside.find('x', inside.starts_with(kComplex) ? kComplex.size() : 0);
  if (cross >= vector || cross == 0 || word_length(inside) <= cross) return false;
  type.dtype = inside.substr(0, cross);
  type.format = inside.substr(cross + 1, vector - cross - 1);
  type.shape = parse_shape(inside.substr(vector));
  type.is_tensor = true;
  return true;
}

void note_remark(std::string_view part, IrType& type) {
  constexpr std::string_view kRefKey = "ref_key=";
  if (part.starts_with(kRefKey)) {
    type.ref_key = part.substr(kRefKey.size());
    if (type.ref_key.starts_with(':')) type.ref_key.remove_prefix(1);
  }
  type.is_inplace |= part == "is_inplace";
}

// "T*4" is four times T.
size_t repeats(std::string_view& part) {
  const size_t star = part.rfind('*');
  if (star == std::string_view::npos || star + 1 == part.size() || part.size() - star > 8) return 1;
  size_t count = 0;
  for (const char c : part.substr(star + 1)) {
    if (!is_digit(c)) return 1;
    count = count * 10 + static_cast<size_t>(c - '0');
  }
  part = part.substr(0, star);
  return count;
}

// The elements of "Tuple[T,T*4]" with the shapes of "TupleShape((2), (3), ..)", if there is one for each.
void unfold(std::string_view types, std::string_view shapes, size_t max_elements, ParsedType& parsed) {
  std::vector<std::string_view> type_parts, shape_parts;
  split_at_commas(types, Brackets::kTypes, type_parts);
  split_at_commas(shapes, Brackets::kTypes, shape_parts);
  // The elements of a real tuple, each as a text of its own, take a few times the length of the tuple's text.
  size_t room = 64 * 1024 + 16 * (types.size() + shapes.size());
  size_t index = 0;
  for (std::string_view part : type_parts) {
    size_t count = repeats(part);
    while (count > 0) {
      const std::string_view shape = index < shape_parts.size() ? shape_parts[index] : std::string_view();
      const size_t equal = index < shape_parts.size() ? 1 : count;
      const size_t size = part.size() + shape.size() + 4;
      if (index + equal > max_elements || size > room) {
        parsed.elements.clear();
        parsed.elements_left_out = true;
        return;
      }
      room -= size;
      index += equal;
      count -= equal;
      parsed.elements.push_back({fmt::format("<{}{}{}>", part, shape.empty() ? "" : ", ", shape), equal});
    }
  }
}

void parse_sequence(std::string_view first, const std::vector<std::string_view>& parts, size_t max_elements,
                    ParsedType& parsed) {
  constexpr std::string_view kTupleShape = "TupleShape", kListShape = "ListShape";
  parsed.type.is_tuple = true;
  std::string_view shapes;
  for (const std::string_view part : parts) {
    const bool shape = part.starts_with(kTupleShape) || part.starts_with(kListShape);
    if (!shape || part.find('(') == std::string_view::npos) continue;
    std::string_view rest = part.substr(part.find('('));
    shapes = take_bracket(rest);
  }
  const size_t open = first.find('[');
  if (open == std::string_view::npos) return;
  std::string_view rest = first.substr(open);
  unfold(take_bracket(rest), shapes, max_elements, parsed);
}

void parse_host(std::string_view inside, size_t max_elements, ParsedType& parsed) {
  std::vector<std::string_view> parts;
  split_at_commas(inside, Brackets::kTypes, parts);
  if (parts.empty()) return;
  std::string_view first = parts[0];
  if (first.starts_with("Dynamic ")) first.remove_prefix(8);
  IrType& type = parsed.type;
  std::string_view rest_of_type;
  type.dtype = unwrap_tensor(first, type, rest_of_type);
  if (type.dtype == "null") type.dtype = {};
  type.is_monad = type.dtype == "UMonad" || type.dtype == "IOMonad";
  if (type.is_tensor && rest_of_type.starts_with('x')) type.shape = parse_shape(rest_of_type.substr(1));
  if (type.is_tensor && parts.size() > 1 && !type.shape) type.shape = parse_shape(parts[1]);
  for (const std::string_view part : parts) note_remark(part, type);
  if (type.dtype == "Tuple" || type.dtype == "List") parse_sequence(first, parts, max_elements, parsed);
}

}  // namespace

ParsedType parse_ir_type(std::string_view text, size_t max_elements) {
  ParsedType parsed;
  parsed.type.text = text;
  if (text.size() < 2 || text.front() != '<') return parsed;
  const std::string_view inside = text.substr(1, text.size() - (text.back() == '>' ? 2 : 1));
  if (!parse_device(inside, parsed.type)) parse_host(inside, max_elements, parsed);
  return parsed;
}

bool split_signature(std::string_view text, std::vector<std::string_view>& inputs,
                     std::vector<std::string_view>& outputs) {
  inputs.clear();
  outputs.clear();
  std::vector<std::string_view> group;
  size_t groups = 0;
  for (text = trim(text); text.starts_with('('); ++groups) {
    // The last group so far turns out to be inputs.
    inputs.insert(inputs.end(), outputs.begin(), outputs.end());
    outputs.clear();
    const size_t close = closing_bracket(text, 0);
    split_at_commas(text.substr(1, close == std::string_view::npos ? close : close - 1), Brackets::kTypes, group);
    for (std::string_view part : group) {
      if (part.size() > 2 && part.front() == '`' && part.back() == '`') part = part.substr(1, part.size() - 2);
      outputs.push_back(part);
    }
    if (close == std::string_view::npos) return false;
    text = trim_front(text.substr(close + 1));
    if (text.starts_with("->")) text = trim_front(text.substr(2));
  }
  if (groups == 1) inputs.swap(outputs);
  return groups > 0;
}

}  // namespace msdump
