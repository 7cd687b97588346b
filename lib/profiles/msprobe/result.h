// The result CSV of msprobe's own `compare`, to the byte, from two dump.json or debug.json: msdump diff --profile
// msprobe. Columns, order, rounding, spellings and faults are msprobe's; msdump's own verdicts are elsewhere.
//
//   what both dumps must be    the same task: tensor, statistics, or statistics with checksums on both sides; a PyTorch
//                              target has a PyTorch golden dump, a MindSpore target either
//   rows                       one for each leaf of the target (msprobe_items.h), in its order; golden leaves without a
//                              partner are in no row (msprobe_match.h, msprobe_keys.h, msprobe_layers.h)
//   columns                    msprobe_row.h; numbers: msprobe_metrics.h, msprobe_statistics.h; verdicts:
//                              msprobe_verdict.h. A column of statistics in which all are numbers and one is a float
//                              prints integers as floats (16.0), with pandas 2 also among the rows without a partner
//   fuzzy match of statistics  msprobe mixes its columns up: every row is without a partner, and it stops where one
//                              really is; so do we. Of checksums it is refused here: what msprobe prints is not known.
// Memory: the items of both dumps, and the rows of as many entries as there are workers ahead of the output.
// Not done: files of more than 1 048 500 rows (msprobe cuts them into parts), its refusal of cells that look like
// formulas.
// Source: reference/compare-and-check.md 2, reference/verified-on-real-msprobe.md 5 and 6; msprobe 26.2.0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/cancel.h"
#include "io/worker_pool.h"

namespace msdump {

struct MsprobeCompareOptions {
  bool pandas2 = false;  // the digits of pandas 2 and numpy 1
  bool fuzzy = false;    // -fm
  // YAML files. "" for -cm, -am and -lm without a file. -am and -lm are for MindSpore targets only.
  std::optional<std::string> cell_mapping = {}, api_mapping = {}, data_mapping = {}, layer_mapping = {};
};

struct MsprobeCompareContext {
  WorkerPool& pool;
  const CancelToken& cancel;
};

struct MsprobeCompareCounts {
  int64_t rows = 0, pass = 0, warning = 0, error = 0;
  std::vector<Error>
      failures;        // tensor files that could not be read: their metrics are "unsupported"; at most a thousand
  int64_t failed = 0;  // all of them
};

// Gets the file piece by piece, whole lines each, header first.
using MsprobeSink = std::function<Status(std::string_view lines)>;

// kUsage for dumps that msprobe refuses to compare, and where it stops with an exception of its own.
Result<MsprobeCompareCounts> write_msprobe_result(const std::string& target_json, const std::string& golden_json,
                                                  const MsprobeCompareOptions& options,
                                                  const MsprobeCompareContext& context, const MsprobeSink& sink);

// What msprobe compares with what when it is given these two paths, and how it calls the results.
//
//   two files      as they are: "compare_result", of debug.json "debug_compare_result"
//   two folders    their rank<R> folders, by number ("rank" first), the first with the first; without any the one
//                  proc<pid> folder; of level debug debug.json, else dump.json: "compare_result_rank0"
//                  (the name is that of the target's folder)
struct MsprobeJsonPair {
  std::string target, golden;
  std::string result_name;  // without the time stamp and .csv
};

Result<std::vector<MsprobeJsonPair>> find_msprobe_pairs(const std::string& target, const std::string& golden);

}  // namespace msdump
