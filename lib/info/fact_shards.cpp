// Facts of the index of a checkpoint in several files, which are read for what they hold.
#include "checkpoint/shards.h"
#include "info/fact_readers.h"

namespace msdump {
namespace {

Error problem_of(const ShardFault& fault) {
  const bool missing = fault.kind == ShardFaultKind::kMissingFile || fault.kind == ShardFaultKind::kMissing;
  const ErrorCode code = fault.problem ? fault.problem->code : missing ? ErrorCode::kNotFound : ErrorCode::kBadHeader;
  return make_error(code, "{}: {}", fault.file, fault.text);
}

}  // namespace

void add_shard_index_facts(const FactSource& source, FileFacts& facts) {
  const auto index = read_shard_index(source.file);
  if (!index) facts.problems.push_back(index.error());
  const ShardCheck check =
      index ? check_shards(*index, source.index.path_of_folder(source.indexed.folder), source.cancel) : ShardCheck{};
  report::Value note;
  for (const ShardFault& fault : check.faults) {
    if (fault.kind == ShardFaultKind::kTotalSize) {
      note = fault.text;
    } else {
      facts.problems.push_back(problem_of(fault));
    }
  }
  report::Object& detail = facts.detail;
  detail.add("files", index ? report::Value(index->files.size()) : report::Value());
  detail.add("parameters", index ? report::Value(index->parameters.size()) : report::Value());
  detail.add("total_size", index ? report::Value(index->total_size) : report::Value());
  detail.add("parameter_bytes", check.bytes).add("note", std::move(note));
}

}  // namespace msdump
