// dump.pkl of ptdbg_ascend (api_stack_dump.pkl, {mode}_dump.pkl): a line of JSON for each tensor of a run, and no pickle.
//
//   [NAME, STEP, MD5, DTYPE, SHAPE, STATISTICS]       ["Functional_relu_0_forward_input.0", 1, [], "torch.float32", [2, 3],
//                                                      [1.5, -1.0, 0.25]]
//   1. NAME        as parse_ptdbg_name() takes it (msprobe/names.h). The file of the elements, if they were dumped, is
//                  NAME.npy in the folder that is called like the table: dump/ beside dump.pkl
//   2. MD5         [], or the CRC-32 of the elements as a text; STATISTICS is then []
//   3. STATISTICS  [max, min, mean] or [max, min, mean, norm]; [] for those of bool and of empty tensors, "Nan" for the norm of
//                  tensors that are not of floats. That is what is not known, and no NaN, which is the bare NaN
//   4. of an argument that is no tensor: DTYPE "<class 'int'>", SHAPE "[]", and its value as each of the STATISTICS
//   [NAME, [FRAME, ..]]                               the call stack of an operator, NAME .._stack_info; innermost frame first
//   5. FRAME       [PATH, LINE, FUNCTION, CODE], LINE a text, CODE null if it is not known; or a text as in stack.json
// Source: ptdbg_ascend's dump/dump.py and compare/acc_compare.py, 2023 to 2024.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/error.h"
#include "io/file.h"
#include "msprobe/dump_json.h"
#include "msprobe/stack_json.h"

namespace msdump {

// True for the names that ptdbg_ascend gives to its table.
[[nodiscard]] bool is_dump_pkl_name(std::string_view file_name);

// True if a file that begins with this line is such a table.
[[nodiscard]] bool looks_like_dump_pkl(std::string_view line);

// The rows as those of a dump.json, with the names of today. Lines that are not understood are `problems`; too_large beyond
// the limits, of which `entry` counts for a line.
Result<DumpJson> read_dump_pkl(const File& file, const DumpJsonLimits& limits = {});

// True if a table with these first bytes has call stacks.
[[nodiscard]] bool has_stacks(std::span<const std::byte> head);

// The call stacks of forward calls, as those of a stack.json. Those of backward calls are of autograd's engine.
Result<StackJson> read_dump_pkl_stacks(const File& file, const StackJsonLimits& limits = {});

}  // namespace msdump
