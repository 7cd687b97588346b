// module_path(): the module in the name of its call: Module.model.layers.0.Layer.forward.1 -> Module.model.layers.0. A name that
// is no entry (names.h), such as that of a hook, is a path itself. No value for an entry of anything but a module's call.
#pragma once

#include <optional>
#include <string_view>

namespace msdump {

[[nodiscard]] std::optional<std::string_view> module_path(std::string_view name);

}  // namespace msdump
