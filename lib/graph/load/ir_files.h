// Finds the files that describe the operators of a dump: IR inside it, beside it, or named by the user; graphs of GE; and
// stack.json of msprobe.
//
//   1. what the user names (--ir): files, folders, globs
//   2. graphs/ms_output_trace_code_graph_G.ir in the dump, or in a folder above the place that was given; .pb without an
//      .ir
//   3. stack.json of an msprobe tree
//   4. graphs of GE in the dump, beside it, and in pid_P_deviceid_D and extra-info folders there: those that were executed
//      (stage Build), of a folder without one the last; text protobuf before ONNX. Besides 2 and 5, which give their lines.
//   5. save_graphs folders inside the dump and beside it: of the snapshots there the final ones, by name
//      (graph_build_G, trace_code_graph, NN_execute, NN_task_emit, NN_validate), the last of each graph
//   6. beside 4: torchair's dynamo_*_graph_*.py, which has the lines of operators
// 1 excludes the others; 5 is for dumps without 2 and 3.
// Source: what save_graphs, dumps and GE of MindSpore 1.0 to 2.10 wrote.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "dump/index/dump_index.h"
#include "graph/op_graph.h"

namespace msdump {

struct IrFile : GraphFile {
  int priority = 0;      // of kSaved: lower is nearer to what ran
  bool outside = false;  // found beside or above the dump: perhaps another run's
};

struct IrSearch {
  std::vector<IrFile> files;           // sorted; each to be read
  std::vector<std::string> looked_in;  // folders that were searched
  bool found_by_itself = false;        // not named by the user
  ReachedLimits limits;
};

// An error only for a name of the user's that does not exist.
Result<IrSearch> find_ir(const DumpIndex* index, const std::vector<std::string>& named);

// The facts in the name of an IR file. Kind and place are guessed from the name as well. Empty for other names.
[[nodiscard]] std::optional<IrFile> ir_file_of_name(std::string_view path);

}  // namespace msdump
