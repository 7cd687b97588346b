// msprobe's own table for -am: functions with the same name in mindspore.ops and torch, and a few with other names. All
// others keep their names. Internal to msprobe_keys.cpp.
// Source: the public interfaces of both frameworks; checked against what msprobe 26.2.0 maps.
#pragma once

#include <optional>
#include <string_view>

namespace msdump {

// "Torch.matmul" is what "Functional.matmul" becomes.
[[nodiscard]] bool is_torch_function(std::string_view function);

// For APIs with another name in PyTorch: "Functional.linear" for "Functional.dense".
[[nodiscard]] std::optional<std::string_view> renamed_api(std::string_view api);

}  // namespace msdump
