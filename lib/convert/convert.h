// convert: the tensors of a dump as arrays in the host format asked for, mirrored under OUT.
//
// One unit of work is one input file; its tensors are planned (format/plan.h) and written one by one, large ones in
// slabs that all workers share. A failure costs only the tensor that it occurs in. Rows, warnings and failures reach
// the sink in the order of the catalogue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "convert/output_tree.h"
#include "dump/index/dump_index.h"
#include "dump/index/selection.h"
#include "format/plan.h"
#include "graph/join/original_shapes.h"
#include "io/run_context.h"
#include "io/worker_pool.h"
#include "parts/facts.h"
#include "parts/part_file.h"

namespace msdump {

struct ConvertOptions {
  std::string out;                         // created if missing
  std::optional<Format> format;            // none: keep the device format
  std::optional<Shape> shape;              // the original shape, where the file has none or a wrong one
  const OriginalShapes* shapes = nullptr;  // for tensors whose file does not say it; those that fit are used
  OutputType type = OutputType::kNpy;
  Naming naming = Naming::kMsaccucmp;
  std::string version;          // of msdump; arrays of another one are not kept
  std::vector<std::string> ir;  // the graphs that the shapes were looked up in, as they were named
  // Leave outputs that are complete, newer than their input, and made with the same options (convert/settings_file.h). In
  // a shard, what it wrote before it was interrupted counts as written.
  bool resume = false;
  bool dry_run = false;  // everything but the writing
  // Only these inputs: their arrays are written and their outcomes kept in ConvertContext::facts. The rest, rows, failures
  // and the mapping.csv of each folder, is left to the run that has the outcomes of all.
  std::optional<Shard> shard = {};
};

enum class ConvertStatus : uint8_t { kWritten, kSkipped, kPlanned, kFailed };
[[nodiscard]] constexpr ConvertStatus last_of(ConvertStatus) { return ConvertStatus::kFailed; }
[[nodiscard]] std::string_view name_of(ConvertStatus status);

struct ConvertRow {
  std::string input;                  // relative to the dump
  std::string tensor;                 // "output:0"
  std::optional<std::string> output;  // relative to OUT; none when nothing is or would be written
  std::optional<std::string> from_format, to_format, dtype, npy_dtype;
  std::optional<Shape> shape;
  std::optional<PlanPolicy> policy;
  ConvertStatus status = ConvertStatus::kFailed;
};

struct ConvertSummary {
  int64_t inputs = 0;  // files that hold tensors
  int64_t tensors = 0;
  int64_t written = 0, skipped = 0, kept = 0, failed = 0;
  int64_t ignored = 0;  // files that hold none (csv, json, IR, ...)
  uint64_t bytes_in = 0, bytes_out = 0;
  int64_t units = 0, own_units = 0;  // inputs, and those of the shard
  bool interrupted = false;
};

class ConvertSink {
 public:
  virtual ~ConvertSink() = default;
  virtual void row(const ConvertRow& row) = 0;
  virtual void warning(const std::string& path, const std::string& tensor, const std::string& text) = 0;
  virtual void failure(const Error& error) = 0;
};

struct ConvertContext {
  WorkerPool& pool;
  const CancelToken& cancel;
  ConvertSink& sink;
  ProgressSink* progress = nullptr;
  FactStore* facts = nullptr;  // without a shard: the outcomes of all inputs, which are then not opened
};

// An error only when nothing at all could be done: OUT cannot be created, or two inputs would have the same output.
Result<ConvertSummary> convert(const DumpIndex& index, const Selection& selection, const ConvertOptions& options,
                               const ConvertContext& context);

}  // namespace msdump
