// The lint of each tool's configuration; lint_config chooses one.
#pragma once

#include "config/finding.h"
#include "io/json.h"

namespace msdump {

// MindSpore's data_dump.json. Sections count by release and device:
//   synchronous    e2e_dump_settings.enable; from 2.4 on, if the section exists; always on a GPU (1.3 and later) and on a
//                  CPU (1.8 and later)
//   asynchronous   Ascend, unless it is synchronous; to 1.2 async_dump_settings.enable
void lint_data_dump(Findings& findings, const JsonValue& root, const LintTarget& target);

// msprobe's config.json, as release 26.2 reads it on PyTorch and on MindSpore: the top level, the block named after the
// task, load. Both frameworks share the checks of the top level; tasks, levels and blocks differ. Python decides what is
// absent: null, "", [], {} and 0 count as absent if the key has a default.
void lint_msprobe(Findings& findings, const JsonValue& root, const LintTarget& target);
// The number of members that are named after a task.
[[nodiscard]] size_t task_blocks_in(const JsonValue& root);

// AscendCL's dump configuration: the argument of aclInit, aclmdlSetDump and torch_npu; also acl_dump_N.json, which MindSpore
// 2.3 to 2.5 wrote, and msprobe's kernel_config_PID.json. One object "dump", in one of three uses that exclude each other:
//   1. models (dump_list) and single operators (dump_op_switch)
//   2. overflow (dump_debug on)
//   3. a scene (dump_scene): operators that fail, or a watch on overwritten outputs
void lint_acl(Findings& findings, const JsonValue& root);

}  // namespace msdump
