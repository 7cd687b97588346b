// msdump check --report: the findings, and the values of every tensor along the execution, as a page; --summary: its head.
#pragma once

#include "base/error.h"
#include "check/check_options.h"
#include "frame/subcommand.h"
#include "shared/opened_graph.h"

namespace msdump::cli {

Status write_check_page(Session& session, const CheckOptions& options, const OpenedCheck& opened);

// --summary: the answer, the first causes and ten findings in Markdown. `code`: that of the run.
Status write_check_summary(const CheckOptions& options, const OpenedCheck& opened, ExitCode code);

}  // namespace msdump::cli
