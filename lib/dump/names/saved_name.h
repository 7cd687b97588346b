// File names of tensors that a graph saves one by one, outside a dump of MindSpore's.
//
//   torchair FX   node-target.{INPUT|OUTPUT}.i[.j].time.npy        mm-aten.mm.default.INPUT.0.20240125031118787351.npy
//   torch_npu     name_device_D[_N].{pt|bin}                       add_device_0_0.pt, of npugraph_ex and
//                                                                  save_npugraph_tensor; N counts per name and device
//   TensorDump    name_dtype_N.npy                                 mul_float32_3.npy; N counts all that a process saves
//   acl_save      name_N.pt                                        act_0.pt, of msprobe; likewise
//
// Only the first two are forms that nobody else uses. Whether a number at the end of the others is a counter shows in
// the names beside it (index/counted_files.h).
// Source: torchair python/torchair/fx_dumper.py; op-plugin, save_npugraph_tensor; mindspore
// ccsrc/tools/tensor_dump/tensordump.cc; msprobe ccsrc/aclgraph_dump/aclgraph_dump.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "dump/names/identity.h"
#include "tensor/dtype.h"

namespace msdump {

// The texts are views of the name that was parsed.
struct FxFileName {
  std::string_view node, target;  // "mm", "aten.mm.default"
  Io io = Io::kOutput;
  std::string_view slot;  // "0"; "0.1" of a list of tensors
  std::string_view timestamp;
};
[[nodiscard]] std::optional<FxFileName> parse_fx_file_name(std::string_view name);

// A name that ends in a counter; the functions below take it without its suffix.
struct CountedName {
  std::string_view name;
  std::string_view device;          // of torch_npu; else empty
  std::string_view number;          // empty: not counted
  DType dtype = DType::kUndefined;  // of TensorDump
};
[[nodiscard]] std::optional<CountedName> parse_torch_npu_name(std::string_view stem);    // add_device_0_0
[[nodiscard]] std::optional<CountedName> parse_tensor_dump_name(std::string_view stem);  // mul_float32_3
[[nodiscard]] std::optional<CountedName> parse_numbered_name(std::string_view stem);     // act_0

}  // namespace msdump
