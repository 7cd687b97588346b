// Files whose names end in a counter of their writer (names/saved_name.h), found among the names of one folder. Internal
// to lib/dump.
#pragma once

#include <span>

#include "dump/index/dump_index.h"

namespace msdump {

// `files` are those of one folder, after their families are known. A file that was counted loses the counter from its
// op name and has it as its time stamp, so that its runs are in order:
//   torch_npu    always. The device leaves the name, too, unless files of several devices lie in the folder.
//   TensorDump   if no two of the folder's numbers are equal
//   acl_save     if, moreover, all .pt files of the folder end in a number, and one of several names has several numbers.
//                "layer_0.pt, layer_1.pt" may be two layers, but "a_0.pt, b_1.pt, a_2.pt" are runs of a and b.
void take_counters(std::span<IndexedFile> files, const IndexedFolder& folder);

}  // namespace msdump
