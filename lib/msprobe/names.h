// The names that msprobe gives to entries of its JSON files (dump, debug, stack and construct) and to files in
// dump_tensor_data. MindSpore (.npy) and PyTorch (.pt) have the same names.
//
//   entry of a call      {prefix}.{api}.{call}.{forward|backward}            Functional.linear.2.forward
//                        Primitive.{name}.{Class}.{call}.{forward|backward}  Primitive.matmul.MatMul.0.forward
//   of a module          {Cell|Module}.{path}.{Class}.{forward|backward}.{call}
//   its gradients        {Cell|Module}.{path}.{Class}.parameters_grad[.{call}]   without the number before 2025
//   of a saved variable  {variable}.{call}.debug                             logits_grad.0.debug
//   file                 {call or module}.{input|output|parameters}.{slot}, {gradients}.{parameter}, {saved}[.{slot}];
//                        a slot is a number, the name of a keyword argument or of a parameter, or for nested
//                        arguments several of these: "0", "dtype", "1.0"
//   keyword argument     {module}.kwargs.{slot}: an input
//   of AclGraphDumper    {call or module without its direction}.{call}.{input|input_kwargs|output}[.{slot}].pt, which its
//                        dump.json calls {call}.{n}.forward or {module}.forward.{n}
//   unfinished           {Cell}.{path}.{Class}.forward.input.{slot}_{dtype}_{counter}.npy: of a graph part whose process
//                        ended before msprobe had renamed its files; no call number yet
//   of ptdbg_ascend      {prefix}_{api}_{call}_{forward|backward}_{input|output}.{slot}.npy, also of msprobe 1.0; such a call
//                        has the name of today, too: Functional_conv2d_1_forward_input.0.npy is of Functional.conv2d.1.forward
// The prefixes (Tensor, Functional, Mint, Torch, Aten, ...) are open: users register their own.
// Source: files that msprobe of 2024 to 2026 wrote; its
// ccsrc/aclgraph_dump/aclgraph_dump.cpp and python/msprobe/pytorch/aclgraph_dumper.py; ptdbg_ascend's dump/dump.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msdump {

enum class MsprobeIo : uint8_t { kInput, kOutput, kParameter, kDebug };
[[nodiscard]] std::string_view name_of(MsprobeIo io);  // "input", "output", "parameter", "debug"

enum class MsprobeEntryKind : uint8_t { kCall, kModule, kParameterGradients, kDebug };

struct MsprobeEntry {
  MsprobeEntryKind kind = MsprobeEntryKind::kCall;
  // The class of a primitive or module (MatMul, Linear), for other calls the text between prefix and call number
  // (linear; Aten has dots: add.Tensor), for a saved variable its name (logits_grad).
  std::string_view op_type;
};

// A name as the json files have it; nothing if it has none of the forms above (construct.json's "optimizer").
[[nodiscard]] std::optional<MsprobeEntry> parse_msprobe_entry(std::string_view name);

// The call whose backward pass an entry belongs to, because stack.json has only forward names.
// Functional.linear.2.backward -> Functional.linear.2.forward, Module.fc.Linear.parameters_grad.1 ->
// Module.fc.Linear.forward.1 (without a number: forward.0). No value for any other name.
[[nodiscard]] std::optional<std::string> forward_entry_of(std::string_view name);

// The backward call that makes the gradients of a module's parameters: Module.fc.Linear.parameters_grad.1 ->
// Module.fc.Linear.backward.1. No value for any other name.
[[nodiscard]] std::optional<std::string> backward_entry_of(std::string_view name);

// The gradients that those of an entry were added to: Module.fc.Linear.parameters_grad.1 -> Module.fc.Linear.parameters_grad.0.
// msprobe writes what a parameter's `grad` holds, the sum over the batches since it was cleared. No value for the first of a
// step, or any other name.
[[nodiscard]] std::optional<std::string> summand_entry_of(std::string_view name);

struct MsprobeName {
  std::string_view op_name;  // the entry: what precedes io, or the parameter of a gradient
  std::string op_type;       // as above
  MsprobeIo io = MsprobeIo::kInput;
  std::string_view slot;        // may be empty for saved variables only
  std::string_view unfinished;  // "float32_0" of an unfinished file, else empty
};

// A file name in dump_tensor_data, with its .npy or .pt.
[[nodiscard]] std::optional<MsprobeName> parse_msprobe_file_name(std::string_view file_name);

// A name in which the entry is spelled otherwise than in a dump.json; `op_name` is as there.
struct RespelledName {
  std::string op_name;
  std::string_view op_type;
  MsprobeIo io = MsprobeIo::kInput;
  std::string_view slot;  // empty: the only one
};
// A file of AclGraphDumper, with its .pt.
[[nodiscard]] std::optional<RespelledName> parse_aclgraph_file_name(std::string_view file_name);
// A tensor of ptdbg_ascend, without a suffix. The slot is a number, or for nested arguments several.
[[nodiscard]] std::optional<RespelledName> parse_ptdbg_name(std::string_view name);

}  // namespace msdump
