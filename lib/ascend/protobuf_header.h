// The protobuf header of binary and classic dump files.
#pragma once

#include "ascend/dump_file.h"

namespace msdump::ascend {

// Reads the DumpData message in [begin, end) of the file. Tensor bytes inside the message (classic files) are not read but
// located by `offset` and `size`; otherwise `offset` is 0, and the caller sets it. Memory is bounded by the message without
// these bytes.
Result<DumpFile> read_protobuf_header(const File& file, uint64_t begin, uint64_t end);

}  // namespace msdump::ascend
