#include "shared/identity_row.h"

#include "dump/names/identity_value.h"

namespace msdump::cli {
namespace {

// The table leaves "null" out: most numbers are unknown in most dumps.
std::string number_text(const report::Row& row, std::string_view key) {
  const report::Value* value = row.find(key);
  const auto* number = value == nullptr ? nullptr : std::get_if<int64_t>(&value->storage());
  return number == nullptr ? "-" : std::to_string(*number);
}

report::Column number_column(const std::string& key) {
  return {key, key, [key](const report::Row& row) { return number_text(row, key); }};
}

}  // namespace

report::Object identity_object(const DumpIndex& index, const TensorRecord& tensor) {
  const Identity identity = identity_of(index, tensor);
  const NameFacts& name = tensor.name;
  report::Object object;
  object.add("path", index.relative_path_of(index.files()[tensor.file]));
  object.add("rank", identity.rank).add("graph", identity.graph).add("step", identity.step);
  object.add("op_name", name.op_name).add("op_type", report::text_or_null(name.op_type));
  object.add("io", name.slot.empty() ? report::Value() : report::Value(name_of(name.io)));
  object.add("slot", slot_value(name.slot)).add("occurrence", tensor.occurrence);
  object.add("task_id", name.task_id).add("stream_id", name.stream_id);
  object.add("timestamp", report::text_or_null(name.timestamp));
  object.add("dtype", name.dtype == DType::kUndefined ? report::Value() : report::Value(name_of(name.dtype)));
  object.add("format", name.format ? report::Value(name_of(*name.format)) : report::Value());
  object.add("shape", tensor.shape == nullptr ? report::Value() : report::Value(report::list_of(*tensor.shape)));
  object.add("bytes", tensor.bytes);
  return object;
}

std::vector<report::Column> identity_columns() {
  return {{"path", ""},           number_column("rank"),  number_column("graph"), number_column("step"),
          {"op_name", "op name"}, {"op_type", "op type"}, {"io", "io"},           {"slot", "slot"},
          {"occurrence", ""},     {"task_id", ""},        {"stream_id", ""},      {"timestamp", ""},
          {"dtype", "dtype"},     {"format", "format"},   {"shape", "shape"},     {"bytes", "bytes"}};
}

}  // namespace msdump::cli
