// Results in JSON (info/results/result_file.h).
#pragma once

#include "base/error.h"
#include "info/results/result_file.h"
#include "io/file.h"

namespace msdump {

// bad_json; too_large beyond 1 GiB, and a problem for a member of more than 64 MiB.
Result<ResultFile> read_result_json(const File& file, const ResultVisitor& visit);

}  // namespace msdump
