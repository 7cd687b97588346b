// File-name grammars: what the name of a dump file says about its tensor. Fields are separated by '.', and read from the
// right, because operator names may contain dots or be empty.
//
//   dump file   type.name[.dump_number].task[.stream].time[.task_type.context.thread.device][.bin]
//               name.type.task.stream.time, of aclnn operators in MindSpore 2.3
//               type.name.dump_number.task.stream.time.FFTSPLUS.context.thread.device
//   npy         type.name.task.stream.time.{input|output}.slot.format[.dtype].npy    (MindSpore 1.3 and later)
//   raw         the same as npy without the last suffix, dtype in upper case       (msprobe's adump, for dtypes numpy lacks)
//   raw bin     scope--name_{input|output}_slot_shape_2_3_Float32_DefaultFormat.bin  (MindSpore 1.0 to 1.2; "0" is a scalar)
//
// Source: reference/ascend-dump-file.md 7.1, reference/dump-layouts-and-statistics.md section 2.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dump/names/identity.h"
#include "tensor/dtype.h"
#include "tensor/format.h"
#include "tensor/shape.h"

namespace msdump {

// The texts are views of the name that was parsed.
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

// Does the name end in `suffix` (".npy"), in whatever case?
[[nodiscard]] bool has_suffix(std::string_view name, std::string_view suffix);

// Suffixes of files that lie in and beside dumps and are never tensors: csv, json, ir, txt, ...
[[nodiscard]] bool is_known_other_suffix(std::string_view suffix);

}  // namespace msdump
