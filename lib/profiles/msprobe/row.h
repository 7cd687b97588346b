// A row of msprobe's result file, and its columns.
//
//   NPU/Bench Name, Dtype, Tensor Shape, Requires_grad                    NPU is the target, Bench the golden dump
//   tensor      Cosine .. Five Thousandths Err Ratio (6)                  metrics.h
//   statistics  Max diff .. NormRelativeErr (8)                           statistics.h
//   both        NPU max, min, mean, l2norm, Bench max, min, mean, l2norm
//   checksums   NPU MD5, BENCH MD5
//   Requires_grad Consistent, Result, Err_message (a JSON list), [NPU_Stack_Info], [tensor: Data_name]
// Source: reference/compare-and-check.md 2.2.
#pragma once

#include <array>
#include <cstdint>
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
  const std::string* stack = nullptr;
  MsprobeVerdict verdict = MsprobeVerdict::kPass;
  std::vector<std::string_view> messages;

  [[nodiscard]] bool has_partner() const { return golden.name != kMsprobeNotAvailable; }
};

// A null argument prints None as dtype and shape with pandas 2, N/A with pandas 3.
[[nodiscard]] MsprobeRow::Side msprobe_side(const MsprobeItem& item, bool pandas2);
[[nodiscard]] MsprobeRow::Side msprobe_no_side();

[[nodiscard]] std::string msprobe_header(MsprobeMode mode, bool has_stacks);
[[nodiscard]] std::string msprobe_line(const MsprobeRow& row, MsprobeMode mode, bool has_stacks);

}  // namespace msdump
