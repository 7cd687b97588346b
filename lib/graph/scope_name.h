// scope_of_op(): the layer that an operator belongs to, by its name alone, so that also names in a report have one.
//
//   Default/network/conv1-Conv2d/Conv2D-op12     Default/network/conv1-Conv2d
//   Module.layers.0.fc.Linear.forward.2          Module.layers.0.fc
//   Module.layers.0.fc.Linear.backward.2         Module.layers.0.fc.backward     (and its parameters_grad)
//   Functional.layer_norm.7.forward              Functional.layer_norm
//   Default_network_conv1-Conv2d_Conv2D-op12     Default_network_conv1-Conv2d_Conv2D     no scope can be told from a file name
//   layers.0.weight                              layers.0
// Any other name is its own scope.
#pragma once

#include <string>
#include <string_view>

namespace msdump {

[[nodiscard]] std::string scope_of_op(std::string_view op_name);

}  // namespace msdump
