// The pictures of the page of msdump diff: of the tensors that show what went wrong, and of those for which --worst or
// --by-axis asked.
#pragma once

#include <vector>

#include "base/error.h"
#include "diff/diff_page_rows.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"
#include "report/value.h"

namespace msdump::cli {

// [{"row","worst","axes","histogram","map"}]; the last two are null where no elements were read again. An error only when
// interrupted: a tensor that cannot be read any more has no picture.
Result<report::List> pictures_value(Session& session, const DiffResult& run,
                                    const std::vector<const Divergence*>& roots, const DiffPageRows& rows);

}  // namespace msdump::cli
