// A tensor of a .pt file as the catalogue has it, without a name.
#pragma once

#include "dump/layouts/stored_tensor.h"
#include "torch/pt_file.h"

namespace msdump {

[[nodiscard]] StoredTensor stored_tensor_of(const torch::PtTensor& tensor);

}  // namespace msdump
