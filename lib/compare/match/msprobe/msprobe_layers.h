// msprobe_layer_mapping(): the data mapping that follows from a mapping of layers, msprobe's -lm. Both dumps become trees of
// scopes, from construct.json and stack.json. The target's scope, with its layers renamed, is looked up in the golden tree.
//
//   1. scope    of a call: that of the module it was made in (construct.json), then its API name; of a module and of
//               parameter gradients: its own path. It is made of the layer names without class and call number; the top
//               is "TopLayer". A backward call has the scope of its forward call. (With the older stack.json also the
//               framework's function through which the call was made.)
//   2. rules    {Class or TopLayer: {child or dotted.path: golden child}}, longest first; "Cell" is an old word for
//               TopLayer, and a "(" in the golden name begins a comment. Layers without a rule keep their names.
//   3. partner  the entry with the same scope and direction, and the same place among those
//   4. items    of two partners are paired by what follows the name of their entry
//   5. the layers of a ParallelTransformer count from 0 on both sides
// Source: msprobe 26.2.0.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "io/json.h"

namespace msdump {

// The golden names of the layers inside a class.
struct MsprobeClassRules {
  std::unordered_map<std::string, std::string> by_path;  // "fc1" or a dotted path
  size_t most_parts = 1;                                 // most components of a path
};
using MsprobeLayerRules = std::map<std::string, MsprobeClassRules, std::less<>>;  // by class

Result<MsprobeLayerRules> read_layer_rules(const JsonValue& yaml);

// A side of the comparison: its items, and the path of its json. The json has stack.json and construct.json beside it.
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
