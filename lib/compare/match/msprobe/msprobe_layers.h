// msprobe's -lm: the data mapping that follows from a mapping of layers. Both dumps become trees of scopes, made from
// construct.json and stack.json; the target's scope, with its layers renamed, is looked up in the golden tree.
//
//   1. scope    of a call: that of the module it was made in (construct.json), then its API name; of a module and of
//               parameter gradients: its own path. In it go the layer names without class and call number; at the top
//               "TopLayer". A backward call has the scope of its forward call. (Of the older stack.json also the
//               framework's function that the call was made through.)
//   2. rules    {Class or TopLayer: {child or dotted.path: golden child}}, longest first; "Cell" is an old word for
//               TopLayer, and what follows a "(" in the golden name is a comment. Layers without a rule keep their
//               names.
//   3. partner  the entry of the same scope, of the same direction, and of the same place among those
//   4. items    of two partners are paired by what follows the names of their entries
//   5. the layers of a ParallelTransformer count from 0 on both sides
// Source: reference/compare-and-check.md 2.6; msprobe 26.2.0.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "io/json.h"

namespace msdump {

struct MsprobeLayerRule {
  std::string from, to;
  size_t parts = 1;
};
// By class, by the first part of the path.
using MsprobeLayerRules = std::map<std::string, std::map<std::string, std::vector<MsprobeLayerRule>>>;

Result<MsprobeLayerRules> read_layer_rules(const JsonValue& yaml);

// One side: its items and where its json lies, with stack.json and construct.json beside it.
struct MsprobeLayerSide {
  const MsprobeItems& items;
  std::string json_path;
};

// {target item: golden item or "N/A"}, as msprobe writes it into data_mapping_<time>.yaml. Empty if one side has
// neither stacks nor modules.
Result<std::unordered_map<std::string, std::string>> msprobe_layer_mapping(const MsprobeLayerSide& target,
                                                                           const MsprobeLayerSide& golden,
                                                                           const MsprobeLayerRules& rules);

}  // namespace msdump
