// Tables of results (info/results/result_file.h).
#pragma once

#include "base/error.h"
#include "info/results/result_file.h"
#include "io/cancel.h"
#include "io/file.h"

namespace msdump {

// bad_csv if the columns are not those of such a table, too_large beyond 1 GiB. After an interruption the result is incomplete.
Result<ResultFile> read_result_csv(const File& file, const CancelToken& cancel, const ResultVisitor& visit);

}  // namespace msdump
