// The header of a nano dump file (edge SoCs): L bytes of records, little-endian, packed, beginning at offset 8.
//
//   1. u32 0x5A5A5A5A, u32 version
//   2. any of: u32 tag 4, u32 length { u32 count; count x input }
//              u32 tag 5, u32 length { u32 count; count x output }
//   input:  i32 data_type, format, address_type; u64 address, offset, size; list
//   output: i32 data_type, format, address_type, original_index, original_data_type, original_format;
//           u64 address, offset, size; list
//   list:   u32 bytes, then records u32 tag, u32 length, value: tag 0 the shape (u64 each), tag 1 the original shape,
//           tag 2 the name (outputs)
//
// Source: reference/ascend-dump-file.md section 1.3.
#pragma once

#include "ascend/dump_file.h"

namespace msdump::ascend {

// Tensors with their sizes, but not yet placed in the file. `length` is L, not yet checked.
Result<DumpFile> read_nano_header(const File& file, uint64_t length);

}  // namespace msdump::ascend
