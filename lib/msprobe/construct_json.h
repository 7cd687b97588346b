// construct.json of msprobe: the module in which each call, and each module, was made. Levels L0 and mix; L1 writes {}.
//
//   {NODE: PARENT, ..}             in the order in which they began
//   1. NODE    the name of a call or module (msprobe/names.h), also of calls without data (risk_level), or "optimizer";
//              backward names too, whose parents are backward names; parameters_grad entries have none
//   2. PARENT  a NODE; null, until 2025 also "", at the top
//   3. training with Megatron (2025 and later): [PARENT, MICRO_STEP] in place of PARENT, and one more member
//              "megatron_micro_step_number": N, the highest of them; a PARENT without a list then has micro step 0
// A PARENT need not be a NODE of the file. Source: msprobe's files,
// msprobe's own writer and reader of 2025 and 2026.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "base/text.h"
#include "io/file.h"

namespace msdump {

struct ConstructJson {
  struct Node {
    std::string_view name;
    std::string_view parent;            // empty: none
    std::optional<int64_t> micro_step;  // of Megatron
    size_t offset = 0;                  // of its value in the text
  };

  std::vector<Node>
      nodes;  // in the order of the text; of two of one name the later value counts, at the earlier's place
  std::optional<int64_t> micro_steps;                    // megatron_micro_step_number
  int64_t entries = 0;                                   // members of the object
  ProblemList problems;                                  // entries that were not understood
  TextArena texts;                                       // names and parents
  std::unordered_map<std::string_view, size_t> by_name;  // index in nodes

  [[nodiscard]] const Node* find(std::string_view name) const;
};

struct ConstructJsonLimits {
  uint64_t text = uint64_t{4} << 30;    // bytes of the file
  uint64_t entry = uint64_t{16} << 10;  // of one value
  uint64_t kept = uint64_t{4} << 30;    // memory that the nodes may take
};

// bad_json with offset, line and column for what is not a JSON object; too_large beyond the limits.
Result<ConstructJson> read_construct_json(const File& file, const ConstructJsonLimits& limits = {});

}  // namespace msdump
