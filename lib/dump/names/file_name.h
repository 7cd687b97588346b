// Grammars of file names. Fields are separated by '.' and read from the right, because operator names may contain dots or
// be empty. The texts of all results are views of the name that was parsed.
//
//   dump file   type.name[.dump_number].task[.stream].time[.task_type.context.thread.device][.bin]
//               name.type.task.stream.time, of aclnn operators in MindSpore 2.3
//               type.name.dump_number.task.stream.time.FFTSPLUS.context.thread.device
//   npy         type.name.task.stream.time.{input|output}.slot.format[.dtype].npy    (MindSpore 1.3 and later)
//   raw         the same as npy without the last suffix, dtype in upper case       (msprobe's adump, for dtypes numpy lacks)
//   raw bin     scope--name_{input|output}_slot_shape_2_3_Float32_DefaultFormat.bin  (MindSpore 1.0 to 1.2; "0" is a scalar)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dump/names/identity.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace msdump {

struct DumpFileName {
  std::string_view op_type, op_name;
  std::optional<int64_t> task_id, stream_id;
  std::string_view timestamp;
};

struct NpyFileName {
  DumpFileName op;
  Io io = Io::kOutput;
  std::string_view slot;
  std::string_view format_text;  // as written: "DefaultFormat", "NC1HWC0"
  std::optional<Format> format;  // empty for an unknown word
  std::optional<DType> dtype;    // from 2.4 on
};

struct RawBinFileName {
  std::string op_name;  // full scope, with '/'
  Io io = Io::kOutput;
  std::string_view slot;
  Shape shape;
  DType dtype = DType::kUndefined;
  std::optional<Format> format;
};

[[nodiscard]] std::optional<DumpFileName> parse_dump_file_name(std::string_view name);
[[nodiscard]] std::optional<NpyFileName> parse_npy_file_name(std::string_view name);
// Names without ".npy" have a dtype.
[[nodiscard]] std::optional<NpyFileName> parse_raw_file_name(std::string_view name);
[[nodiscard]] std::optional<RawBinFileName> parse_raw_bin_file_name(std::string_view name);

// Text after the last '.', in lower case; empty if there is none.
[[nodiscard]] std::string suffix_of(std::string_view name);

// True if the name ends in `suffix` (".npy"), in upper or lower case.
[[nodiscard]] bool has_suffix(std::string_view name, std::string_view suffix);

// True for suffixes of files that never hold tensors: csv, json, ir, txt, ...
[[nodiscard]] bool is_known_other_suffix(std::string_view suffix);

// Names of tensors that a graph saves one by one, without a dump of MindSpore.
//
//   torchair FX   node-target.{INPUT|OUTPUT}.i[.j].time.npy        mm-aten.mm.default.INPUT.0.20240125031118787351.npy
//   torch_npu     name_device_D[_N].{pt|bin}                       add_device_0_0.pt, of npugraph_ex and
//                                                                  save_npugraph_tensor; N counts per name and device
//   TensorDump    name_dtype_N.npy                                 mul_float32_3.npy; N counts all that a process saves
//                 N_name.npy                                       3_mul.npy, of MindSpore 2.3 and 2.4; likewise
//   acl_save      name_N.pt                                        act_0.pt, of msprobe; likewise
//
// No other tool uses the first two forms. The others may end in any number: the names beside them show whether it is a
// counter (take_counters in index/dump_index.h).
// Source: torchair python/torchair/fx_dumper.py; op-plugin, save_npugraph_tensor; mindspore
// ccsrc/tools/tensor_dump/tensordump.cc, before plugin/device/ascend/hal/device/tensordump_utils.cc; msprobe
// ccsrc/aclgraph_dump/aclgraph_dump.cpp.
struct FxFileName {
  std::string_view node, target;  // "mm", "aten.mm.default"
  Io io = Io::kOutput;
  std::string_view slot;  // "0"; "0.1" of a list of tensors
  std::string_view timestamp;
};
[[nodiscard]] std::optional<FxFileName> parse_fx_file_name(std::string_view name);

// A name that ends in a counter. `stem`: a file name without its suffix.
struct CountedName {
  std::string_view name;
  std::string_view device;          // of torch_npu; else empty
  std::string_view number;          // empty: not counted
  DType dtype = DType::kUndefined;  // of TensorDump
};
[[nodiscard]] std::optional<CountedName> parse_torch_npu_name(std::string_view stem);    // add_device_0_0
[[nodiscard]] std::optional<CountedName> parse_tensor_dump_name(std::string_view stem);  // mul_float32_3
[[nodiscard]] std::optional<CountedName> parse_numbered_name(std::string_view stem);     // act_0
// A name that begins in a number: 0001_attn, 1-attn, 3.attn, F1__attn. Hooks of scripts count what they save.
[[nodiscard]] std::optional<CountedName> parse_leading_number(std::string_view stem);

// Names of arrays that msdump convert and msaccucmp write. FILE is the file that the array came from, io its section.
//
//   .npy   FILE.io.slot[.dims | .format[.dtype]]        dims: 2x3x4, "scalar"
//   .bin   FILE.io.slot.dims.dtype.format               dims: 2_3_4, "scalar"; the number of elements without -f
//          FILE.{l1buffer|space}.slot                   bytes
//
// Parameters of a checkpoint have FILE.PARAMETER in place of FILE.io.slot. convert/output_tree.h writes these names.
struct ConvertedName {
  std::string_view file;       // empty for an array of a checkpoint
  std::string_view parameter;  // in an .npy with what follows, which only the shape separates (parameter_of)
  Io io = Io::kOutput;
  std::string_view slot;
  std::optional<Shape> shape;  // only in .bin; none: all bytes of the file
  std::optional<Format> format;
  std::optional<DType> dtype;
};

[[nodiscard]] std::optional<ConvertedName> parse_converted_npy_name(std::string_view name);
[[nodiscard]] std::optional<ConvertedName> parse_converted_bin_name(std::string_view name);

// The name of a parameter without the dimensions, the format, or format and dtype that convert adds to it. A parameter of
// one dimension whose own name ends in the number of its elements ("bias.8") loses that number.
[[nodiscard]] std::string_view parameter_of(const ConvertedName& name, const Shape& shape);

}  // namespace msdump
