// msprobe's config.json, as release 26.2 reads it on PyTorch and on MindSpore: the top level, the block named after the task,
// load. Both frameworks share the checks of the top level; tasks, levels and blocks differ.
//
// Python decides what is absent: null, "", [], {} and 0 count as absent where there is a default.
// Source: reference/compare-and-check.md 1.6, reference/verified-on-real-msprobe.md 7, and what release 26.2.0 answered to 70
// configurations (corpus/msprobe/configs).
#pragma once

#include "config/finding.h"
#include "io/json.h"

namespace msdump {

void lint_msprobe(Findings& findings, const JsonValue& root, const LintTarget& target);

// How many members are named after a task.
[[nodiscard]] size_t task_blocks_in(const JsonValue& root);

}  // namespace msdump
