#include "shared/identity_row.h"

#include "dump/names/identity_value.h"

namespace msdump::cli {
report::Column number_column(const std::string& key, bool shown) {
  const uint8_t drop = key == "rank" ? report::kDropRank : key == "graph" ? report::kDropGraph : report::kDropStep;
  // The table omits "null": most numbers are unknown in most dumps.
  return {key, shown ? key : "", [key](const report::Row& row) { return row.text_or_number(key); }, drop};
}

report::Column op_type_column() { return {"op_type", "op type", {}, report::kDropOpType}; }

std::string tensor_cell(const report::Row& row) {
  const std::string io = row.text_or_number("io"), slot = row.text_or_number("slot");
  return slot == "-" ? io : io + ":" + slot;
}

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
  return {{"path", ""},           number_column("rank"),
          number_column("graph"), number_column("step"),
          {"op_name", "op name"}, op_type_column(),
          {"io", "io"},           {"slot", "slot"},
          {"occurrence", ""},     {"task_id", ""},
          {"stream_id", ""},      {"timestamp", ""},
          {"dtype", "dtype"},     {"format", "format", {}, report::kDropStep},
          {"shape", "shape"},     {"bytes", "bytes"}};
}

}  // namespace msdump::cli
