// msdump diff --profile msprobe: the result CSV of msprobe's own `compare`, from two dump.json or debug.json. Columns, rows, verdicts,
// messages and file names are msprobe's; the numbers come from msdump's own metrics.
//
//   requirements               the same task: tensor, statistics, or statistics with checksums on both sides; for a PyTorch
//                              target a PyTorch golden dump, for a MindSpore target either
//   rows                       one for each leaf of the target (msprobe_items.h), in its order; golden leaves without a
//                              partner are in no row (match.h, msprobe_keys.h, msprobe_layers.h)
//   columns and verdicts       verdict.h; numbers: metrics.h. Statistics are printed as dump.json has them
//   fuzzy match of statistics  rows are paired as those of tensors. msprobe 26.2.0 mixes its columns up there
// Memory: the items of both dumps, and per worker the rows of one entry ahead of the output.
// Not done: files of more than 1 048 500 rows (msprobe cuts them into parts), its refusal of cells that look like formulas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "profiles/result_writer.h"

namespace msdump {

// The step and rank that `compare` takes, from a path above or below them:
//
//   <dump>/step<N>/rank<R>/dump.json       also graph/ or pynative/ in between is a place of its own: name it
//
//   a file                                 itself
//   a folder with dump.json, debug.json    that file, dump.json first
//   a folder with step<N> folders          the requested one, or the only one; several are kUsage
//   with a requested rank                  its folder's file, below the step
struct MsprobePlace {
  std::optional<int64_t> step, rank;
};

// A step folder or a file. kUsage when the step is not clear, kNotFound when there is no such step or rank.
Result<std::string> find_msprobe_place(const std::string& path, const MsprobePlace& place);

struct MsprobeCompareOptions {
  bool pandas2 = false;  // a null argument has dtype and shape None; N/A with pandas 3
  bool fuzzy = false;    // -fm
  // YAML files. "" for -cm, -am and -lm without a file. For PyTorch targets msprobe refuses -am and ignores -lm.
  std::optional<std::string> cell_mapping = {}, api_mapping = {}, data_mapping = {}, layer_mapping = {};
};

struct MsprobeCompareCounts {
  int64_t rows = 0, pass = 0, warning = 0, error = 0;
  ProfileFailures failures;  // tensor files that could not be read: their metrics are "unsupported"

  MsprobeCompareCounts& operator+=(MsprobeCompareCounts&& more);
};

// kUsage for dumps that msprobe refuses to compare.
Result<MsprobeCompareCounts> write_msprobe_result(const std::string& target_json, const std::string& golden_json,
                                                  const MsprobeCompareOptions& options, const RunContext& context,
                                                  const ProfileSink& sink);

// The files that msprobe compares if it is given two paths, and the name of each result.
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
