// MsprobeItems: a dump.json or debug.json as msprobe's compare reads it. Each leaf of each entry (tensor, scalar or null) is
// an item, with the texts of msprobe's result file. DumpJson of msprobe/dump_json.h has the values of the same file.
//
//   1. inside an entry: inputs, keyword inputs, gradients of inputs, then parameters, outputs, parameter gradients
//   2. a leaf is a dict with a text as "type"; a P2POp stands for its "tensor"; empty lists, dicts and texts have no
//      item
//   3. the name is that of the data file without its suffix; without a file the path to the leaf
//   4. a value without a dtype: its Python class as dtype, shape [] and the value itself as all four statistics; of
//      torch.Size, slice, ellipsis, process groups and their ranks other texts
//   5. the checksum is md5, else the CRC-32 of str(value)
//   6. the key that pairs two items is the name; for backward entries the call number is replaced by the number of earlier
//      backward entries of that operator
// Source: msprobe 26.2.0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_python.h"
#include "io/file.h"
#include "msprobe/stack_json.h"

namespace msdump {

enum class MsprobeState : uint8_t { kInput, kParameters, kOutput, kParametersGrad, kDebug };

struct MsprobeItem {
  std::string name;
  std::string key;
  std::optional<std::string> dtype, shape;  // no value: a null argument
  std::array<PythonValue, 4> statistics;    // Max, Min, Mean, Norm; None is the text "None", NaN the text "Nan"
  std::optional<std::string> requires_grad;
  std::optional<std::string> checksum;
  std::string data_name = "-1";  // of its file, from the json: not checked
  MsprobeState state = MsprobeState::kInput;
  uint32_t entry = 0;           // in MsprobeItems::entries
  bool first_of_entry = false;  // its row shows the stack
};

struct MsprobeItems {
  std::string task, framework;       // framework: pytorch if the file names none
  bool has_checksums = false;        // md5 keys where msprobe looks for them
  std::vector<std::string> entries;  // the keys of "data", those without items too
  std::vector<MsprobeItem> items;    // in the order of the result file
  std::vector<Error> problems;       // entries that could not be read
};

struct MsprobeItemLimits {
  uint64_t text = uint64_t{4} << 30;    // bytes of the file
  uint64_t entry = uint64_t{16} << 20;  // bytes of one entry; its tree takes some forty times that at worst
  uint64_t kept = uint64_t{8} << 30;    // memory of the items
};

struct MsprobeItemForm {
  bool debug_json = false;  // saved variables: their names have no parts
  bool fuzzy = false;       // backward calls keep their numbers
};

// kBadJson with offset, line and column if it is not JSON or has no "data"; kTooLarge beyond the limits.
Result<MsprobeItems> read_msprobe_items(const File& file, const MsprobeItemForm& form,
                                        const MsprobeItemLimits& limits = {});

// A stack as msprobe's result file prints it: str() of the list of frames.
[[nodiscard]] std::string msprobe_stack_text(const StackJson& stacks, const StackJson::Op& op);

}  // namespace msdump
