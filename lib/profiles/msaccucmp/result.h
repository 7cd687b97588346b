// The result CSV of msaccucmp's `compare`: msdump diff --profile msaccucmp. Columns and text: msaccucmp_row.h; rows of dump
// files against dump files: msaccucmp_files.h; of anything else: msaccucmp_tensors.h; numbers: msaccucmp_metrics.h.
//
// The tool compares the files of one folder with those of another. So do we: sides with tensors in several folders, and
// sides of which only statistics are there, are kUsage.
//
// Not done: the time stamp in the file's name; fusion and quantisation rules (-f, -q, -cf), hence operators that were fused;
// FFTS+ slices of one tensor, which the tool joins, and their names; custom algorithms and the choice of some (-alg, -a,
// -c); -max, -range, -select, -op, -map; the columns OverFlow and OpSequence; the advisor. Where
// the tool mistakes the order of host axes and cuts elements off, all elements are compared. Operators with one time stamp
// come by name, in the tool as the file system has them. Names that its check for formulas in cells refuses are written.
// Memory: the rows of as many operators as there are workers ahead of the output, and slabs (msaccucmp_metrics.h).
// Source: reference/compare-and-check.md 3; msprobe 26.2.0 (msaccucmp), read and run with a parser of headers in place of
// CANN's library.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/cancel.h"
#include "io/worker_pool.h"
#include "profiles/msaccucmp/row.h"

namespace msdump {

struct MsaccucmpContext {
  WorkerPool& pool;
  const CancelToken& cancel;
};

struct MsaccucmpCounts {
  int64_t rows = 0;
  int64_t unmatched = 0, not_compared = 0, left_out = 0, beyond = 0;  // MsaccucmpOpRows
  std::vector<Error> failures;                                        // of files; at most a thousand
  int64_t failed = 0;                                                 // all of them
};

// Gets the file piece by piece, whole lines each, header first.
using MsaccucmpSink = std::function<Status(std::string_view lines)>;

Result<MsaccucmpCounts> write_msaccucmp_result(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                               const MsaccucmpContext& context, const MsaccucmpSink& sink);

}  // namespace msdump
