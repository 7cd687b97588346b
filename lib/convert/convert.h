// convert(): writes the tensors of a dump as arrays in a host format, in a tree under OUT that mirrors the dump.
//
// The unit of work is an input file. Its tensors are planned (format/plan.h) and written one by one, large ones in windows
// that all workers share. A failure costs only its tensor. Rows, warnings and failures reach the sink in the order of the
// catalogue.
#pragma once

#include <cstdint>
#include <map>
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
  std::optional<Format> format;            // none: tensors keep the device format
  std::optional<Shape> shape;              // the original shape, if the file has none or a wrong one
  const OriginalShapes* shapes = nullptr;  // shapes for tensors whose file has none; those that fit are used
  OutputType type = OutputType::kNpy;
  Naming naming = Naming::kMsaccucmp;
  std::string version;          // of msdump; --resume keeps only arrays of the same version
  std::vector<std::string> ir;  // the graphs that the shapes come from, as they were named
  // Keeps outputs that are complete, newer than their input, and made with the same options (SettingsFile). In a shard,
  // outputs that it wrote before an interruption count as written.
  bool resume = false;
  bool dry_run = false;  // writes nothing
  // Only the inputs of this shard are converted, and their outcomes kept in ConvertContext::facts. Rows, failures and the
  // mapping.csv of each folder are left to the merge, which has the outcomes of all.
  std::optional<Shard> shard = {};
};

enum class ConvertStatus : uint8_t { kWritten, kSkipped, kPlanned, kFailed };
[[nodiscard]] constexpr ConvertStatus last_of(ConvertStatus) { return ConvertStatus::kFailed; }
[[nodiscard]] std::string_view name_of(ConvertStatus status);

struct ConvertRow {
  std::string input;                  // relative to the dump
  std::string tensor;                 // "output:0"
  std::optional<std::string> output;  // relative to OUT; none if nothing is or would be written
  std::optional<std::string> from_format, to_format, dtype, npy_dtype;
  std::optional<Shape> shape;
  std::optional<PlanPolicy> policy;
  ConvertStatus status = ConvertStatus::kFailed;
};

struct ConvertSummary {
  int64_t inputs = 0;  // files that hold tensors
  int64_t tensors = 0;
  int64_t written = 0, skipped = 0, kept = 0, failed = 0;
  int64_t ignored = 0;  // files without tensors (csv, json, IR, ...)
  uint64_t bytes_in = 0, bytes_out = 0;
  int64_t units = 0, own_units = 0;               // all inputs, and those of the shard
  std::map<std::string, int64_t> device_formats;  // of tensors that are `kept`, by name
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

// Returns an error only if nothing could be done: OUT cannot be created, or two inputs would have the same output.
Result<ConvertSummary> convert(const DumpIndex& index, const Selection& selection, const ConvertOptions& options,
                               const ConvertContext& context);

struct TensorWarning {
  std::string tensor, text;
};

struct LongName {
  std::string folder, mapped, original;
};

// The outcome of one input file, which a part of a run keeps.
struct FileOutcome {
  std::string path;
  bool not_a_dump = false;  // by its content; the name did not claim otherwise
  bool interrupted = false;
  std::vector<ConvertRow> rows;
  std::vector<Error> failures;
  std::vector<TensorWarning> warnings;
  std::vector<LongName> long_names;
  uint64_t bytes_in = 0, bytes_out = 0;
};

void fields(auto& visit, FieldsOf<ConvertRow> auto& value) {
  MSDUMP_FIELDS(input, tensor, output, from_format, to_format, dtype, npy_dtype, shape, policy, status);
}
void fields(auto& visit, FieldsOf<TensorWarning> auto& value) { MSDUMP_FIELDS(tensor, text); }
void fields(auto& visit, FieldsOf<LongName> auto& value) { MSDUMP_FIELDS(folder, mapped, original); }
void fields(auto& visit, FieldsOf<FileOutcome> auto& value) {
  MSDUMP_FIELDS(path, not_a_dump, interrupted, rows, failures, warnings, long_names, bytes_in, bytes_out);
}

}  // namespace msdump
