// statistic.csv: a row of statistics for each tensor of a dump. It is read line by line in bounded memory.
// docs/formats/statistics.md describes the files of each writer.
//
// A statistic has three spellings:
//   * the title of its column: "Max Value", "NaN Count", ... (also read: "Nan Count" of development snapshots of
//     MindSpore, "MD5 Value" of msprobe, "l2norm" of CANN),
//   * statistic_category of data_dump.json: "max", "nan count", "hash" and "hash:sha1" (SHA1), "hash:md5" (MD5), ...,
//   * the keys of msdump's own output: "max", "nan_count", "sha1", ...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "tables/csv_records.h"
#include "tensor/shape.h"

namespace msdump {

enum class StatisticColumn : uint8_t {
  kMax,
  kMin,
  kAvg,
  kCount,
  kNegativeZero,  // named after its title: elements below zero
  kPositiveZero,  // elements above zero
  kNan,
  kNegativeInf,
  kPositiveInf,
  kZero,  // zeros of either sign
  kL2Norm,
  kMd5,
  kSha1,
};

struct StatisticColumnInfo {
  StatisticColumn column;
  std::string_view title;     // as MindSpore writes it
  std::string_view category;  // in data_dump.json
  std::string_view key;       // in msdump's output
};

// Every column, in the order of the enum.
[[nodiscard]] std::span<const StatisticColumnInfo> all_statistic_columns();
[[nodiscard]] const StatisticColumnInfo& info(StatisticColumn column);

// Upper and lower case are equal, because people type them and writers differ.
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_title(std::string_view title);
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_category(std::string_view category);
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_key(std::string_view key);
// Takes any of the three spellings, for options of the command line.
[[nodiscard]] std::optional<StatisticColumn> statistic_column_from_name(std::string_view name);

// The grammar:
//
//   1. header   Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape[,TITLE]...
//   2. row      Add,Default_Add-op0,0,0,1733905446819790,input,0,24,float32,"(2,3)",6,1,9.53939,
//
// Dialects, all read alike:
//   * MindSpore 1.6 to 2.2.14, 2.3.0rc: ten columns or eleven with MD5; rows without a comma at their end.
//   * MindSpore 2.3.0+: the columns of statistic_category in the user's order; up to 2.7.0, one may appear twice; none
//     if the list is empty. Every row ends with a comma, the header does not.
//   * MindSpore 2.7.1+: "[2,3]" for the shape.
//   * msprobe (O2): Input/Output for IO, a column Format before Shape, the shape as 2x3 ("-" for a scalar), no quotes.
//     The device writes this; the spelling of shapes in msprobe's own MD5 rows is unknown, so 2_3 is accepted, too.
//   * CANN, dump_data=stats: a file for each operator, which its name has: Input/Output,Index,Data Size,Data
//     Type,Format,Shape[,TITLE]..., otherwise as msprobe's (O2).
//   * msprobe, of ATB operators: Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,
//     Shape,Max,Min,Mean,Norm,Tensor Path; "N/A" for missing values. Its writer lets no comma into a field.
//   * files that msprobe's L0 and mix rewrite with pandas: no comma at the end, (5) and () without quotes.
//
// The writers escape nothing, and an op name may hold commas and quotes, so a row is read from both ends. The op type is the
// first field. The shape is the last quoted field, else the last in brackets. Fields of known kinds precede it, and one
// value for each column follows. A shape that a spreadsheet turned into a negative number ("(4096)" into -4096) is restored
// if the data size agrees; else it is an error ("(2,300)" becomes -2300). Each run that appends to a file writes a header
// for its rows.
// Source: CANN runtime src/aicpu_sched/aicpu_schedule/core/dfx/dump_task.cpp, ProcessDumpStats; msprobe
// ccsrc/atb_probe/atb_probe.cpp.

enum class StatisticForm : uint8_t { kMindSpore, kMsprobe, kOneOperator, kAtb };

struct StatisticHeader {
  std::vector<StatisticColumn> columns;  // as in the file, also repeated ones
  StatisticForm form = StatisticForm::kMindSpore;
  bool msprobe = false;  // a form other than MindSpore's, with Input/Output and Format
  size_t line = 0;
};

// Texts are views into the line. Those marked "number" hold digits only.
struct StatisticRow {
  size_t line = 0;                                 // from 1
  uint64_t offset = 0;                             // of the line in the file
  std::string_view op_type, op_name;               // empty in a file of one operator
  std::string_view task_id, stream_id, timestamp;  // numbers; empty in files of one operator and of ATB
  std::string_view op_id, device, run, data_path;  // only of ATB: "5_0", "0_39943", "0", path of the elements or "N/A"
  std::string_view io;                             // "input" or "output"
  std::string_view slot, data_size;                // numbers; ATB has no size
  std::string_view dtype;                          // "float32", "unsupported(46)"; msprobe: "FLOAT"
  std::string_view format;                         // "ND"; MindSpore has none
  std::string_view shape_text;                     // with its brackets, without its quotes
  Shape shape;
  bool square_brackets = false;
  bool trailing_comma = false;
  std::vector<std::string_view> values;  // one per column: "6", "-nan", "null", an MD5; may be empty
};

class StatisticReader {
 public:
  // Reads the header; a missing one or one with an unknown column is kBadCsv. The file outlives the reader.
  static Result<StatisticReader> open(const File& file);

  // The header of the next rows, which the header of an appended run replaces.
  [[nodiscard]] const StatisticHeader& header() const { return header_; }
  [[nodiscard]] size_t headers_read() const { return headers_read_; }  // 1 for a file of one run

  // Returns the next row, valid until the next call; null at the end. A bad row is kBadCsv with line number and offset, and
  // the next call goes on with the next line. After a bad header in the middle or a read that fails, the next call is the
  // end.
  Result<const StatisticRow*> next();

 private:
  explicit StatisticReader(const File& file) : file_(&file), lines_(file) {}
  Status take_header(const Line& line);
  Status parse(const Line& line);
  tl::unexpected<Error> bad(const Line& line, std::string_view what) const;

  const File* file_;
  LineReader lines_;
  StatisticHeader header_;
  size_t headers_read_ = 0;
  bool header_failed_ = false;
  bool rows_end_with_comma_ = false;  // the previous row under this header did
  StatisticRow row_;
};

}  // namespace msdump
