// Logs of operators with hashes of their tensors: what DebugMode.dump_tensor_hashes() of PyTorch writes, and torchtitan's
// activation log (rank_R_activations.log, --profiler.dump_numerics), whose form DebugMode took over.
//
//   Total captured tensor hash ops: N    DebugMode; "Total captured activations: N" of torchtitan
//   [FQN/op_K_NAME]                      an operator: module, number among those of the module, name; "<none>": no module
//     Shape: torch.Size([2, 3]), Dtype: torch.float32        of one output, as the next ones (torchtitan)
//     L1 norm, L2 norm, Min, Max, Mean: 1.500000e+00         L1 norm: only before there were hashes
//     Output hash: HASH, ..              of all outputs (torchtitan); Input hashes: of the tensors among the arguments
//     Output hashes: LEAF=HASH, ..       DebugMode; Input hashes likewise
//   1. NAME   mm, of DebugMode with its namespace and overload: aten::add.Tensor; or a Triton kernel
//   2. HASH   the L1 norm in float64, of torchtitan with 7 digits; DebugMode writes JSON: that norm, an integer of
//             torch.hash_tensor (an xor), a list of both, or what the user's function returns. "NaN" and "Infinity" are of
//             tensors with such elements: here they are norms, too, and a NaN is no hash
//   3. LEAF   of inputs [0][I] an argument, [1]['NAME'] a keyword argument; of outputs <root> or [I]. They nest. Of a
//             Triton kernel the name of an argument
//   4. The statistics are those of the first output with 1000 elements of a float type; which one is not said. Here: the first
//   5. Input producers (the operator that made each input), Location, Phase, Call index, .. are not read
// Such a hash is of the values and not of the bytes: it is the same for a tensor and its transpose, and for x and -x.
// Source: pytorch torch/utils/_debug_mode/_mode.py and _utils.py, torchtitan tools/activation_tracer.py and
// compare_numerics.py, 2026.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "io/file.h"
#include "msprobe/dump_json.h"

namespace msdump {

enum class TensorLogWriter : uint8_t { kDebugMode, kTorchtitan };
[[nodiscard]] std::string_view name_of(TensorLogWriter writer);  // for people

// Who wrote a file that begins with this line; nothing if it is no such log.
[[nodiscard]] std::optional<TensorLogWriter> tensor_log_writer(std::string_view line);

// The rank in the name that torchtitan gives to its log; nothing for other names.
[[nodiscard]] std::optional<int64_t> rank_of_tensor_log(std::string_view file_name);

// The rows as those of a dump.json. `md5` is "hash:" and HASH, or "weak-hash:" and HASH if tensors that are not equal easily
// share it: seven digits, or an xor alone. Lines that are not understood are `problems`; bad_header for what is no such log,
// too_large beyond the limits, of which `entry` counts for a line.
Result<DumpJson> read_tensor_log(const File& file, const DumpJsonLimits& limits = {});

}  // namespace msdump
