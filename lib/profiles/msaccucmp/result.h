// The result CSV of msaccucmp's `compare`: msdump diff --profile msaccucmp. Columns and text: row.h; rows of dump
// files against dump files: files.h; of anything else: tensors.h; numbers: metrics.h.
//
// The tool compares the files of one folder with those of another, and so does this: tensors in several folders, or only
// statistics, are kUsage.
//
// Not done: the time stamp in the file's name; fusion and quantisation rules (-f, -q, -cf), hence operators that were
// fused; FFTS+ slices of one tensor, which the tool joins, and their names; custom algorithms and a choice of
// algorithms (-alg, -a, -c); -max, -range, -select, -op, -map; the columns OverFlow and OpSequence; the advisor. Where
// the tool confuses the order of host axes and cuts elements off, all elements are compared. Operators with the same
// time stamp are sorted by name; the tool takes the order of the file system. Names that its check for formulas in
// cells rejects are written.
// Memory: per worker, the rows of a few operators ahead of the output, and slabs (metrics.h).
// Source: reference/compare-and-check.md 3; msprobe 26.2.0 (msaccucmp), read and run with a parser of headers in place of
// CANN's library.
#pragma once

#include "base/error.h"
#include "profiles/msaccucmp/row.h"
#include "profiles/result_writer.h"

namespace msdump {

Result<MsaccucmpCounts> write_msaccucmp_result(const MsaccucmpSide& a, const MsaccucmpSide& b,
                                               const RunContext& context, const ProfileSink& sink);

}  // namespace msdump
