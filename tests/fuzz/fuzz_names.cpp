// Any text as what users and dumps give names and numbers by: file names, folders, mapping.csv, ranges, globs; and the
// text functions that print them. The text up to the first line feed is one half, what follows the other.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include "base/numbers.h"
#include "base/text.h"
#include "dump/layouts/layout.h"
#include "dump/names/dumper_name.h"
#include "dump/names/file_name.h"

#include "fuzz_file.h"
#include "msprobe/names.h"
#include "tables/mapping_csv.h"

namespace {

using namespace msdump;
using fuzz::require;

constexpr size_t kSlow = 300;  // longer texts are left out where the check itself is quadratic

bool same(const DumpFileName& a, const DumpFileName& b) {
  return a.op_type == b.op_type && a.op_name == b.op_name && a.task_id == b.task_id && a.stream_id == b.stream_id &&
         a.timestamp == b.timestamp;
}

// The usual form of a name; empty where another form would be read from it.
std::string print(const DumpFileName& name) {
  const std::string_view last_field = std::string_view(name.op_name).substr(name.op_name.rfind('.') + 1);
  if (!name.task_id || !name.stream_id || name.timestamp.size() < 10) return {};
  if (is_digits(last_field) && name.op_type != "Parameter") return {};  // would be taken for a dump number
  return fmt::format("{}.{}.{}.{}.{}", name.op_type, name.op_name, *name.task_id, *name.stream_id, name.timestamp);
}

void check_dump_name(std::string_view text) {
  const auto parsed = parse_dump_file_name(text);
  if (!parsed) return;
  require(is_digits(parsed->timestamp), "a time stamp is digits");
  require(!parsed->task_id || *parsed->task_id >= 0, "a task is no negative number");
  const std::string printed = print(*parsed);
  if (printed.empty()) return;
  const auto again = parse_dump_file_name(printed);
  require(again && same(*again, *parsed), "a dump file name printed is parsed back");
}

void check_npy_name(std::string_view text) {
  const auto parsed = parse_npy_file_name(text);
  if (!parsed) return;
  require(is_digits(parsed->slot), "a slot is digits");
  std::string printed = print(parsed->op);
  if (printed.empty()) return;
  printed += fmt::format(".{}.{}.{}", name_of(parsed->io), parsed->slot, parsed->format_text);
  if (parsed->dtype) printed += fmt::format(".{}", name_of(*parsed->dtype));
  printed += ".npy";
  const auto again = parse_npy_file_name(printed);
  require(again && same(again->op, parsed->op) && again->io == parsed->io && again->slot == parsed->slot &&
              again->format == parsed->format && again->dtype == parsed->dtype,
          "an npy name printed is parsed back");
}

void check_converted_names(std::string_view text) {
  for (const auto& parsed : {parse_converted_npy_name(text), parse_converted_bin_name(text)}) {
    if (!parsed) continue;
    require(is_digits(parsed->slot), "a slot is digits");
    require(parsed->file.empty() != parsed->parameter.empty(), "an array is of a file's tensor or of a parameter");
    require(!parsed->shape || parsed->shape->size() <= kMaxRank, "the rank is limited");
    require(parsed->parameter.starts_with(parameter_of(*parsed, {2, 3})), "a parameter's name is at the beginning");
  }
}

void check_raw_bin_name(std::string_view text) {
  const auto parsed = parse_raw_bin_file_name(text);
  if (!parsed) return;
  require(parsed->shape.size() <= kMaxRank, "the rank is limited");
  const std::string_view dtype = name_of(parsed->dtype);
  if (text.find('/') != std::string_view::npos || parsed->op_name.find("-/") != std::string::npos) return;
  if (dtype.find('_') != std::string_view::npos || !parsed->format) return;
  std::string printed;
  for (const char c : parsed->op_name) printed += c == '/' ? "--" : std::string(1, c);
  printed += fmt::format("_{}_{}_shape_", name_of(parsed->io), parsed->slot);
  printed += parsed->shape.empty() ? "0" : join_dims(parsed->shape, "_");
  printed += "_" + std::string(dtype) + "_" + std::string(name_of(*parsed->format)) + ".bin";
  const auto again = parse_raw_bin_file_name(printed);
  require(again && again->op_name == parsed->op_name && again->io == parsed->io && again->slot == parsed->slot &&
              again->shape == parsed->shape && again->dtype == parsed->dtype && again->format == parsed->format,
          "a raw bin name printed is parsed back");
}

void check_saved_names(std::string_view text) {
  if (const auto fx = parse_fx_file_name(text)) {
    const std::string_view io = fx->io == Io::kInput ? "INPUT" : "OUTPUT";
    require(fmt::format("{}-{}.{}.{}.{}.npy", fx->node, fx->target, io, fx->slot, fx->timestamp) ==
                std::string(text.substr(0, text.size() - 4)) + ".npy",
            "the name of an FX tensor printed is the name");
  }
  if (const auto saved = parse_torch_npu_name(text)) {
    const std::string number = saved->number.empty() ? "" : fmt::format("_{}", saved->number);
    require(fmt::format("{}_device_{}{}", saved->name, saved->device, number) == text,
            "a device name printed is the name");
  }
  if (const auto saved = parse_tensor_dump_name(text)) {
    require(fmt::format("{}_{}_{}", saved->name, name_of(saved->dtype), saved->number) == text,
            "a TensorDump name printed is the name");
  }
  if (const auto saved = parse_numbered_name(text))
    require(fmt::format("{}_{}", saved->name, saved->number) == text, "a numbered name printed is the name");
  if (const auto name = parse_aclgraph_file_name(text))
    require(!name->op_name.empty(), "a name of AclGraphDumper has an operator");
  if (const auto name = parse_dumper_name(text)) {
    require(!name->op_name.empty() && name->op_name.size() <= text.size() + 16, "an op name is made of the name");
    require(name->index.empty() || is_digits(name->index), "an order is digits");
  }
  if (const auto name = parse_ptdbg_name(text)) {
    std::string printed = fmt::format("{}_{}.{}", name->op_name, name_of(name->io), name->slot);
    require(printed.size() == text.size() && printed.ends_with(text.substr(text.size() - name->slot.size())),
            "a name of ptdbg_ascend printed has its length");
  }
}

void check_mapping(const uint8_t* data, size_t size) {
  const fuzz::FuzzFile input(data, size);
  const auto mapping = read_mapping_csv(input.open());
  if (!mapping) return fuzz::require_good_error(mapping.error());
  const std::string printed = format_mapping_csv(*mapping);
  const fuzz::FuzzFile copy(reinterpret_cast<const uint8_t*>(printed.data()), printed.size());
  const auto again = read_mapping_csv(copy.open());
  require(again && *again == *mapping, "a mapping.csv printed is read back");
  for (const auto& [mapped, original] : *mapping)
    require(resolve_name(*mapping, mapped) == original, "a name is found");
}

void check_ranges(std::string_view text) {
  const auto ranges = IntRanges::parse(text);
  std::string other(text);
  std::replace(other.begin(), other.end(), '|', ',');
  const auto same_ranges = IntRanges::parse(other);
  require(ranges.has_value() == same_ranges.has_value(), "both separators mean the same");
  if (!ranges) return;
  require(!ranges->empty() && !ranges->contains(-1), "ranges hold numbers that are not negative");
  for (const std::string_view item : split(other, ',')) {
    const auto low = parse_i64(item.substr(0, item.find('-')));
    require(low && ranges->contains(*low) && same_ranges->contains(*low), "a range holds its first number");
  }
}

// By the book: row by row, does pattern[0, i) match text[0, j)?
bool glob_by_table(std::string_view pattern, std::string_view text) {
  std::vector<bool> row(text.size() + 1, false);
  row[0] = true;
  for (const char c : pattern) {
    std::vector<bool> next(text.size() + 1, false);
    next[0] = c == '*' && row[0];
    for (size_t j = 1; j <= text.size(); ++j) {
      next[j] = c == '*' ? row[j] || next[j - 1] : row[j - 1] && (c == '?' || c == text[j - 1]);
    }
    row = std::move(next);
  }
  return row[text.size()];
}

void check_text(std::string_view a, std::string_view b) {
  const std::string escaped = escape_for_terminal(a);
  require(is_utf8(escaped), "escaped text is UTF-8");
  require(escape_for_terminal(escaped) == escaped, "escaped text needs no escaping");
  require(std::none_of(escaped.begin(), escaped.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }),
          "escaped text has no control characters");
  require(display_width(escaped) <= 2 * escaped.size(), "width is bounded");
  require(!(natural_less(a, b) && natural_less(b, a)) && !natural_less(a, a), "natural order is an order");
  require(a == b || natural_less(a, b) || natural_less(b, a), "natural order tells any two texts apart");
  if (a.size() > kSlow || b.size() > kSlow) return;
  require(glob_match(a, b) == glob_by_table(a, b), "a glob matches what the book says");
  const size_t distance = edit_distance(a, b);
  require(distance == edit_distance(b, a) && distance <= std::max(a.size(), b.size()), "edit distance is a distance");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::string_view rest = first.size() < text.size() ? text.substr(first.size() + 1) : std::string_view();
  check_dump_name(first);
  check_npy_name(first);
  check_raw_bin_name(first);
  check_converted_names(first);
  check_converted_names(first);
  check_saved_names(first);
  check_ranges(first);
  check_text(first, rest);
  check_mapping(data, size);
  (void)identify_folder(first);
  require(hash_name(first).size() == 32 && looks_hashed(hash_name(first)), "a hashed name looks like one");
  return 0;
}
