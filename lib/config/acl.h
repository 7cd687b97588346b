// The dump configuration of AscendCL: what aclInit, aclmdlSetDump and torch_npu are given, what MindSpore 2.3 to 2.5 wrote as
// acl_dump_N.json, and msprobe's kernel_config_PID.json. One object "dump", in one of three uses that exclude each other:
//
//   1. models (dump_list) and single operators (dump_op_switch)
//   2. overflow (dump_debug on)
//   3. a scene (dump_scene): operators that fail, or a watch on overwritten outputs
//
// Source: the documents of AscendCL (aclmdlSetDump), reference/dump-layouts-and-statistics.md 1.6. Not checked against
// a real run.
#pragma once

#include "config/finding.h"
#include "io/json.h"

namespace msdump {

void lint_acl(Findings& findings, const JsonValue& root);

}  // namespace msdump
