// The scope of each entry of a dump, as msprobe's layer mapping makes it; the rules are in msprobe_layers.h.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_layers.h"

namespace msdump {

struct MsprobeScope {
  std::string scope;  // "TopLayer.fc1" or "Module.layers.0.fc1": the first part is ignored
  std::string type;   // the class of a module, the API of a call
  std::string state;  // "forward", "backward", "parameters_grad"
};

// By entry. Empty without stacks or modules; an error when only one of stack.json and construct.json is there, or a
// name has fewer than four parts.
Result<std::vector<MsprobeScope>> msprobe_scopes(const MsprobeLayerSide& side);

}  // namespace msdump
