// Names of the calls of a chain.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace msdump {

inline const std::vector<std::string> kCallNames = {"linear", "relu", "tanh", "gelu", "sigmoid",
                                                    "silu",   "celu", "selu", "elu"};

inline std::string call(size_t place) { return "Functional." + kCallNames[place] + ".0.forward"; }

}  // namespace msdump
