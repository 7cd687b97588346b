// msprobe_keys(): the keys of a target's items when the user maps names, as by msprobe's -cm, -am and -dm.
//
//   1. data   {target item: golden item}: that name, else its own
//   2. cell   "Cell" becomes "Module"; then the part up to the direction ("fc1.Dense") is replaced: as a whole if the
//             file has it, else each of the file's names that it contains, once, in the order of the file. Names of
//             neither calls nor gradients have no key.
//   3. api    first msprobe's own table (in the source: Functional.matmul becomes Torch.matmul; Mint
//             becomes Torch, MintFunctional Functional), then the user's
//             [{ms_api, pt_api, ms_args, pt_args, ms_output, pt_output, ...}, ..]: slots by position; slots that are not in
//             the rule have no partner. msprobe reads ms_output but counts ms_outputs, and stops where a list is missing;
//             msdump does the same.
// The first of api, cell, data that is given is used. Own names come without the renumbering of backward calls.
// Source: msprobe 26.2.0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "io/json.h"

namespace msdump {

struct MsprobeApiRule {
  std::string target_api, golden_api;
  // Slots by state: input, parameters, output, parameters_grad. No value: the rule has no such lists.
  struct Slots {
    std::optional<std::vector<std::string>> target, golden;
  };
  Slots input, parameters, output, parameters_grad;
};

struct MsprobeMappings {
  std::optional<std::vector<std::pair<std::string, std::string>>> cell;  // empty: only Cell becomes Module
  std::optional<std::vector<MsprobeApiRule>> api;
  std::optional<std::unordered_map<std::string, std::string>> data;
};

// The names of a cell mapping, sorted, so that a name finds those that it contains in about log n.
class MsprobeCells {
 public:
  explicit MsprobeCells(std::vector<std::pair<std::string, std::string>> cells);

  // The new name of a cell: by its whole name, else by the names that it contains.
  [[nodiscard]] std::string renamed(const std::string& cell) const;

 private:
  [[nodiscard]] std::optional<size_t> first_inside(std::string_view text, size_t from) const;

  std::vector<std::pair<std::string, std::string>> cells_;
  std::vector<size_t> sorted_;   // indices in cells_, by name
  std::vector<size_t> shorter_;  // by place in sorted_: the longest other name that begins this one, or kNone
  static constexpr size_t kNone = SIZE_MAX;
};

// Longer than real names, in bytes.
inline constexpr size_t kLongestMappedName = 4096;

// Rejects longer names: a name may become a part of the key of every item.
Status check_mapped_name(std::string_view name);

// Reads a YAML file that is parsed already (read_yaml_file).
Result<std::vector<std::pair<std::string, std::string>>> read_name_pairs(const JsonValue& yaml);
Result<std::vector<MsprobeApiRule>> read_api_rules(const JsonValue& yaml);

// The text with `to` for every `from`, which must not be empty.
[[nodiscard]] std::string replaced(std::string_view text, std::string_view from, std::string_view to);

// The API of an item or a call: "Functional.relu" of "Functional.relu.0.forward.input.0". No value without a dot.
[[nodiscard]] std::optional<std::string_view> msprobe_api_of(std::string_view name);

// The key of one item by rule 2, and by the table of rule 3; "N/A": no key.
[[nodiscard]] std::string msprobe_cell_key(std::string name, const MsprobeCells& cells);
[[nodiscard]] std::string msprobe_table_key(const std::string& name);

// The key of each of the target's items.
Result<std::vector<std::string>> msprobe_keys(const MsprobeItems& target, const MsprobeItems& golden,
                                              const MsprobeMappings& mappings);

}  // namespace msdump
