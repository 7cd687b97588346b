// dump.json and debug.json of msprobe: what was recorded of each call, of MindSpore and PyTorch alike.
//
//   {"task": .., "level": .., "framework": .., "dump_data_dir": .., "data": {ENTRY: {SECTION: ..}, ..}}
//   1. ENTRY    the name of a call, a module, its gradients or a saved variable (msprobe/names.h), in the order in
//               which they were completed
//   2. SECTION  forward: input_args [..], input_kwargs {..}, output [..], of modules parameters {name: LEAF};
//               backward: input [..], output [..]; gradients: {parameter: [LEAF]}; saved variables: a LEAF, list, dict
//   3. LEAF     {"type": "torch.Tensor", "dtype", "shape", "Max", "Min", "Mean", "Norm", ["md5"], ["requires_grad"],
//               ["data_name"]}: also mindspore.Tensor and numpy.ndarray. Lists and dicts nest: the slot is the path to
//               the leaf, joined with dots, as in the names of the files. The tensor of a P2POp (torch.distributed) has the
//               slot of the P2POp.
//   4. SCALAR   null, or {"type": "float", "value": 1e-05}: also int, bool, str, slice, torch.dtype, torch.Size, ..; an
//               argument of a call or module
//      "is_nan"    beside the sections of a call, task nan_check: the overflow register of the NPU after the call, which
//                  was cleared before it; 0: no overflow, null: it could not be read
//   5. of a tensor that is one part of a larger one: PyTorch's DTensor has "device_mesh": [[0, 1], [2, 3]] and
//               "placements": [{"Shard": {"dim": 0}}, {"Replicate": {}}, {"Partial": {"reduce_op": "sum"}}], MindSpore
//               "layout": {"Device Matrix": [2, 4], "Alias Name": .., "Tensor Map": .., ..} and "hsdp_shard_size". Shape
//               and statistics are those of the part. Here: {"device_mesh": .., "placements": ["Shard(0)", ..]}, and
//               {"device_matrix": [2,4], ..}. One of more than 64 KiB is left out.
// Numbers may be the bare NaN, Infinity and -Infinity; integers are exact (int64), so they are kept as they are
// written. A killed process leaves "data": {}.
// dump_data_dir is not used, because it is a path of the machine that dumped: the files lie in dump_tensor_data/ beside the
// json. Their names are taken only if they are names, never paths.
// Source: msprobe's writers of 2024 to 2026 and the files that they wrote.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "io/file.h"
#include "msprobe/json_text.h"
#include "msprobe/names.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

struct MsprobeTensor {
  std::string op_name;  // the entry
  std::string op_type;
  MsprobeIo io = MsprobeIo::kInput;
  std::string slot;
  std::string type;                                 // "mindspore.Tensor", "torch.Tensor", "numpy.ndarray"
  std::string dtype_text;                           // "Float32", "torch.bfloat16", "float32"
  std::optional<DType> dtype;                       // nothing: not one that msdump knows
  std::optional<Shape> shape;                       // nothing: null
  std::optional<std::string> max, min, mean, norm;  // as written: "2.5", "NaN", "true"; nothing: null or absent
  // CRC-32 of the bytes, in static graphs MD5 or SHA1, or "0x" and an xor (of a 0-d tensor its value instead).
  std::optional<std::string> md5;
  std::optional<std::string> data_name;  // a plain file name
  std::optional<bool> requires_grad;     // PyTorch only
  // How the tensor is one part of a larger one (5), as compact JSON; null: it is not. Tensors share it.
  std::shared_ptr<const std::string> distribution;
  int64_t order = 0;  // of its entry in "data", from 0
  size_t offset = 0;  // of the leaf in the text
};

// An argument that is not a tensor.
struct MsprobeArgument {
  enum class Kind : uint8_t { kNone, kBool, kNumber, kText, kList, kGroup };  // kGroup: the ranks of a process group
  std::string slot;
  Kind kind = Kind::kNone;
  bool is_dtype = false;  // kText: of torch.dtype or mindspore.dtype
  std::string text;       // as written: "1e-05", "true", "mean", "[1,null]"; of None empty
};

// The arguments of a call or module that are values with one meaning on every machine (no devices, ..), and the ranks
// of process groups.
struct MsprobeCall {
  std::string op_name;  // the entry
  std::vector<MsprobeArgument> arguments;
};

// The overflow register after a call (task nan_check); no status: it could not be read.
struct MsprobeOverflow {
  std::string op_name;  // the entry
  std::optional<uint64_t> status;
  int64_t order = 0;  // of its entry in "data", from 0
};

// The number that a statistic's text means; true is 1.
[[nodiscard]] std::optional<double> statistic_value(std::string_view text);

struct DumpJsonHead {
  std::string task, level, framework;  // empty if absent: old files name no framework
  int64_t entries = 0;                 // of "data"
  // Entries that are not understood, the first fault of each (bad_json; unsafe_name for a data_name that is not a plain
  // name), with line and column.
  ProblemList problems;
};

// The values of a dump.json. The correct parts of an entry that is a problem are kept.
struct DumpJson : DumpJsonHead {
  std::vector<MsprobeTensor> tensors;      // in the order of the text
  std::vector<MsprobeCall> calls;          // with arguments that are not tensors; likewise
  std::vector<MsprobeOverflow> overflows;  // of the calls that have one; likewise
  int64_t others = 0;                      // leaves that are not tensors
};

// Adds a tensor. `kept` counts the memory of all; kTooLarge if it is more than `most` bytes.
Status add_tensor(MsprobeTensor tensor, DumpJson& json, uint64_t& kept, uint64_t most);

struct DumpJsonLimits {
  uint64_t text = uint64_t{4} << 30;         // bytes of the file
  uint64_t entry = uint64_t{16} << 20;       // of one entry, whose tree takes some forty times that at worst
  uint64_t kept = uint64_t{8} << 30;         // memory that the tensors may take
  uint64_t arguments = uint64_t{256} << 20;  // memory that the other arguments may take; further ones are left out
};

// bad_json with offset, line and column for what is not JSON or has no "data"; too_large beyond the limits.
Result<DumpJson> read_dump_json(const File& file, const DumpJsonLimits& limits = {});

// ---- For other views of the same file, such as the texts of msprobe's result file
// (compare/match/msprobe/msprobe_items.h).

struct DumpJsonEntry {
  const JsonMemberPlace& place;
  const JsonValue& value;
  int64_t order = 0;  // among all entries
  JsonProblems& problems;
};

// Receives the entries of "data" in order. begin() comes before them, and again if a second "data" replaces the first,
// as in Python.
class DumpJsonView {
 public:
  virtual ~DumpJsonView() = default;
  virtual void begin() = 0;
  virtual Status entry(const DumpJsonEntry& entry) = 0;
};
// Reads the file into a view. Only `text` and `entry` of the limits count here.
Result<DumpJsonHead> read_dump_json(const File& file, const DumpJsonLimits& limits, DumpJsonView& view);

// Walks a part of an entry to its leaves. Lists and dicts nest; the path gets ".INDEX" or ".KEY" for each of them. A P2POp
// stands for its tensor. The JSON reader bounds the depth.
class DumpLeafWalk {
 public:
  virtual ~DumpLeafWalk() = default;

 protected:
  explicit DumpLeafWalk(size_t longest_path) : longest_path_(longest_path) {}

  void walk(const JsonValue& value);
  void step(std::string_view key, const JsonValue& value);
  virtual void leaf(const JsonValue& value, const std::string& type) = 0;  // a dict with a text as "type"
  virtual void scalar(const JsonValue& value) = 0;                         // neither list nor dict
  virtual void too_long(const JsonValue& value) = 0;                       // the path is longer than `longest_path`

  std::string path_;
  bool lists_are_named_ = true;  // false: the items of a list have the path of the list

 private:
  size_t longest_path_;
};

}  // namespace msdump
