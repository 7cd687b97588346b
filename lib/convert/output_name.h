// The names of converted files. `B` is the name of the input file, io the section, k the slot.
//
//   -f F, npy     B.io.k.2x3x4.npy ("scalar" for a scalar)      no -f   B.io.k.npy
//   -f F, bin     B.io.k.2_3_4.dtype.F.bin                      no -f   B.io.k.COUNT.dtype.DEVICEFORMAT.bin
//   -f F, msnpy   B'.io.k.F.npy                                 no -f   B'.io.k.DEVICEFORMAT.npy
//   --naming mindspore   B.io.k.F.dtype.npy
//   buffers and spaces   B.l1buffer.k.bin, B.space.k.bin        overflow records   B.output.k.json
//
// A tensor with a name of its own (a parameter) has that name for io.k.
// B' is B with its second field replaced by the last component of the operator's full name, when B has five fields.
// A name of 255 bytes or more becomes the hash of the name plus its suffix; mapping.csv in the same folder has the name.
// Source: reference/ascend-dump-file.md section 7.2 (msaccucmp) and reference/dump-layouts-and-statistics.md 2.2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dump/layouts/stored_tensor.h"
#include "format/plan.h"

namespace msdump {

enum class OutputType : uint8_t { kNpy, kBin, kMsnpy };
enum class Naming : uint8_t { kMsaccucmp, kMindspore };

struct NameRequest {
  std::string input_name;  // B: a file name, no folder
  std::string op_name;     // full scope name from inside the file, may be empty
  OutputType type = OutputType::kNpy;
  Naming naming = Naming::kMsaccucmp;
  bool format_given = false;
};

struct OutputName {
  std::string name;                     // what the file is called; never contains '/' and never is "." or ".."
  std::optional<std::string> original;  // the name that was too long
};

[[nodiscard]] OutputName output_name(const NameRequest& request, const StoredTensor& tensor, const Plan& plan);
[[nodiscard]] OutputName opdebug_output_name(const std::string& input_name, const StoredTensor& tensor);
// The name of a converted .npy: its format and dtype fields follow the content, the rest stays.
[[nodiscard]] OutputName npy_output_name(const std::string& input_name, const Plan& plan);

// True for sections that are bytes, not tensors.
[[nodiscard]] bool is_byte_section(Io io);

}  // namespace msdump
