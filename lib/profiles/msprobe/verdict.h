// A row of msprobe's result file, and its columns.
//
//   NPU/Bench Name, Dtype, Tensor Shape, Requires_grad                    NPU is the target, Bench the golden dump
//   tensor      Cosine .. Five Thousandths Err Ratio (6)                  metrics.h
//   statistics  Max diff .. NormRelativeErr (8)                           metrics.h
//   both        NPU max, min, mean, l2norm, Bench max, min, mean, l2norm
//   checksums   NPU MD5, BENCH MD5
//   Requires_grad Consistent, Result, Err_message (a JSON list), [NPU_Stack_Info], [tensor: Data_name]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/msprobe/msprobe_items.h"
#include "compare/match/msprobe/msprobe_python.h"
#include "profiles/result_writer.h"

namespace msdump {

// The contents of both dumps: by the "task" of their json, and whether there are checksums in it.
enum class MsprobeMode : uint8_t { kTensor, kStatistics, kChecksum };

enum class MsprobeVerdict : uint8_t { kPass, kWarning, kError };
[[nodiscard]] std::string_view name_of(MsprobeVerdict verdict);

inline constexpr std::string_view kMsprobeNotAvailable = "N/A";

struct MsprobeRow {
  struct Side {
    std::string name, dtype, shape, requires_grad, checksum;
    std::array<PythonValue, 4> statistics;
    std::string data_name;
  };
  Side target, golden;               // golden: all "N/A" without a partner
  std::vector<PythonValue> metrics;  // of the mode; none for checksums
  std::optional<std::string> stack;
  MsprobeVerdict verdict = MsprobeVerdict::kPass;
  std::vector<std::string_view> messages;

  [[nodiscard]] bool has_partner() const { return golden.name != kMsprobeNotAvailable; }
};

// A null argument prints None as dtype and shape with pandas 2, N/A with pandas 3.
[[nodiscard]] MsprobeRow::Side msprobe_side(const MsprobeItem& item, bool pandas2);
[[nodiscard]] MsprobeRow::Side msprobe_no_side();

[[nodiscard]] std::string msprobe_header(MsprobeMode mode, bool has_stacks);
[[nodiscard]] std::string msprobe_line(const MsprobeRow& row, MsprobeMode mode, bool has_stacks);

// msprobe's Result and Err_message: rules over all rows of one entry. A row has the worst of its verdicts; the messages
// are in the order of the rules.
//
//   E1  max or min of the target is NaN or infinite, and the golden one's is not
//   E2  tensors: the least 1/1000 ratio of the inputs is above 0.9 and that of the outputs below 0.1 (the message says
//       0.6): the first output. Statistics: no input's relative error of the norm reaches 10 %: outputs above 50 %
//   E3  requires_grad differs   E4  a scalar argument's value differs   E5  dtype   E6  shape
//   W1  tensors: the least cosine falls from above 0.9 by more than 0.1: the first output. Statistics: the largest
//       relative error of the norm grows more than tenfold, or from 0 to above 10 %: the first output
//   checksums: an error when they differ, a warning when one side has none
// Outputs are the rows with ".output." in the name, all others count as inputs. Metrics that are texts (NaN, N/A,
// "inf") are ignored, so a NaN output can pass. For some APIs (empty, to, ...) nothing is judged, for some collectives
// only the outputs. All of this is as in msprobe 26.2.0.

// The rows of one entry, in the order of the file.
void judge_msprobe_rows(std::span<MsprobeRow> rows, MsprobeMode mode);

}  // namespace msdump
