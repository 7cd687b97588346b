#include "dump/names/saved_name.h"

#include "base/text.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

// Takes "{separator}{rest}" off the end of `text`; nothing if there is no separator.
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

}  // namespace msdump
