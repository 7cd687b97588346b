// Names of the files that SGLang's dumper writes, also in Megatron, miles and slime: all that is known of a tensor, as
// key=value___key=value.pt, in any order.
//
//   name              of the tensor, as the script says; grad__NAME for its gradient; param__NAME for a parameter of the model;
//                     non_intrusive__MODULE.inputs.K, MODULE.output[.K] from the dumper's hooks
//   step              also forward_pass_id, in older versions
//   rank              global
//   dump_index        counts what a process saved: an order, which differs between two runs
//   layer_id          layer 3 of "attn_out" has the op name "layers.3.attn_out"; a hooked module has its layer in its name
//   recompute_status  "disabled" says nothing
//   tp_rank, ..       of the process (pp, tp, cp, ep, etp), as the rank says, too
//   any other         of the script (micro_batch=1): part of the op name, "layers.3.attn_out.micro_batch=1", sorted by key
// Source: sglang python/sglang/srt/debug_utils/dumper.py, of 2024 to 2026.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dump/names/identity.h"

namespace msdump {

struct DumperName {
  std::string op_name;
  std::string_view slot;   // views of the name; empty: the file says how many tensors there are
  std::string_view index;  // digits; may be empty
  Io io = Io::kOutput;
  std::optional<int64_t> rank, step;
};

// `stem`: a file name without its suffix. Nothing for names of other writers.
[[nodiscard]] std::optional<DumperName> parse_dumper_name(std::string_view stem);

}  // namespace msdump
