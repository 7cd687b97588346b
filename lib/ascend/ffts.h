// FFTS+ slices: an operator that ran in several threads has one dump file per thread, which holds a slice of each tensor.
//
// An attribute of the file is JSON: threadMode (true: automatic slicing), input_tensor_slice and output_tensor_slice as
// [thread][tensor][dimension]{lower, higher}. The thread is the second-last field of the file name. `shape` in the header
// is that of the whole tensor; the bytes are those of the slice.
// Source: reference/ascend-dump-file.md section 9 (msaccucmp).
#pragma once

#include <string_view>

#include "ascend/dump_file.h"

namespace msdump::ascend {

// Gives the tensors of a sliced file the shapes of their slices, and takes the original shape away from those that are
// only a part. Does nothing to a file that is not sliced. bad_json or bad_header when the attribute contradicts itself.
Status apply_thread_slices(DumpFile& dump, std::string_view file_name);

}  // namespace msdump::ascend
