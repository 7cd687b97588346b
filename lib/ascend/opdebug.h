// Opdebug records, which the hardware writes for an overflow. A record is the one tensor of 2048 bytes in a dump file
// `Opdebug.Node_OpDebug...`, in one of two layouts; all numbers are little-endian.
//
// Old (910A): three sections at 0 (DHA Atomic Add), 128 (L2 Atomic Add) and 256 (AI Core), each six u64: model_id,
//   stream_id, task_id, task_type, pc_start, para_base. Then status u64 at 512 (DHA) and 768 (L2), and for AI Core
//   kernel_code, block_idx, status (u64 each) at 1024.
// New (910B on): u32 magic 0x5A5A5A5A, version, valid, acc_type (0 AIC, 1 AIV, 2 AICPU, 3 SDMA), rsv, data_len, then u64s:
//   AIC, AIV: model_id stream_id task_id task_type context_id thread_id pc_start para_base core_id block_id status (four
//     status words in version 1)
//   SDMA:  ... thread_id src_addr dst_addr channel_id status;  AICPU: ... context_id cpu_id thread_id status
//
// The magic distinguishes the layouts. Source: msaccucmp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump::ascend {

struct OpdebugField {
  std::string_view name;
  std::vector<uint64_t> values;  // one, or the four status words
  bool hexadecimal = false;      // addresses
};

struct OpdebugSection {
  std::string_view name;  // "AI Core", ..., or the acc_type of a new record
  std::vector<OpdebugField> fields;
};

struct OpdebugRecord {
  bool new_layout = false;
  uint32_t version = 0, valid = 0, reserved = 0, data_length = 0;  // new layout only
  std::vector<OpdebugSection> sections;                            // three, or one
};

// `offset` is that of the record in its file, for messages.
Result<OpdebugRecord> read_opdebug(std::span<const std::byte> bytes, uint64_t offset);

// The JSON of msaccucmp: four blanks of indentation, keys in its order.
[[nodiscard]] std::string opdebug_json(const OpdebugRecord& record);

// True if the op type is that of overflow records.
[[nodiscard]] bool is_opdebug_name(std::string_view file_name);

}  // namespace msdump::ascend
