// The protobuf header of binary and classic dump files.
#pragma once

#include "ascend/dump_file.h"

namespace msdump::ascend {

// Reads the DumpData message in [begin, end) of the file. Where tensor bytes stand inside the message (classic files) they
// are not read: `offset` and `size` say where they are. Elsewhere `offset` is 0, to be filled in.
// Memory is bounded by the message without those bytes, one tensor at a time.
Result<DumpFile> read_protobuf_header(const File& file, uint64_t begin, uint64_t end);

}  // namespace msdump::ascend
