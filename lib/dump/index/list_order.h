// The order of tensors in reports, and which run of its operator a tensor belongs to. Internal to lib/dump.
#pragma once

#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"

namespace msdump {

// Sets `occurrence` and `claimed_twice` and sorts: see TensorList::tensors.
void sort_tensors(const DumpIndex& index, std::vector<TensorRecord>& tensors);

}  // namespace msdump
