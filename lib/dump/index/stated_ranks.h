// ranks_of_files(): the ranks that saved the .pt files of a folder, by the DeviceMesh of their DTensors (torch/dtensor.h): names
// as ckpt_0.pt do not say that the number is a rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msdump {

// By file. Files that cannot be read have none. If the first eight have none, the others are not opened.
[[nodiscard]] std::vector<std::optional<int64_t>> ranks_of_files(std::span<const std::string> paths);

}  // namespace msdump
