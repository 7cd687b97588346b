// The readers that read_file_facts chooses from, one for each group of kinds. Internal to lib/info.
#pragma once

#include <string_view>

#include "base/containers.h"
#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/layouts/family.h"
#include "info/file_facts.h"
#include "io/file.h"
#include "io/run_context.h"

namespace msdump {

struct FactSource {
  const DumpIndex& index;
  const IndexedFile& indexed;
  const File& file;
  const CancelToken& cancel;
};

// The tensors as a family sees them, whatever the name says; absent ones left out.
[[nodiscard]] Result<OpenedFile> open_with(const Family& family, const DumpIndex& index, const IndexedFile& file);

// Each adds the keys of facts.kind to facts.detail, null or not, and its problems to facts.problems.
void add_tensor_facts(const FactSource& source, FileFacts& facts);  // npy, raw, dump_file, pt
void add_opdebug_facts(const FactSource& source, FileFacts& facts);
void add_statistic_facts(const FactSource& source, FileFacts& facts);
void add_line_facts(const FactSource& source, FileFacts& facts);    // mapping, execution_order
void add_result_facts(const FactSource& source, FileFacts& facts);  // free_benchmark, acc_check, .., anomalies
void add_monitor_facts(const FactSource& source, FileFacts& facts);
void add_dump_json_facts(const FactSource& source, FileFacts& facts);
void add_json_facts(const FactSource& source, FileFacts& facts);  // stack_json, kernel_args, config
void add_ir_facts(const FactSource& source, FileFacts& facts);
void add_shard_index_facts(const FactSource& source, FileFacts& facts);
void add_ge_facts(const FactSource& source, FileFacts& facts);

// The first bytes of the file, 64 KiB at most.
[[nodiscard]] std::string_view head_text(const FactSource& source);
// The first rows that cannot be read, and how many more there are.
void add_bad_rows(const ProblemList& rows, FileFacts& facts);
// A problem if the name promises text but the first bytes are not text.
void check_is_text(const FactSource& source, ErrorCode code, FileFacts& facts);

}  // namespace msdump
