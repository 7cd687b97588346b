// msprobe's dump.json and debug.json: every tensor of a run with its statistics; the elements, if dumped, lie in
// dump_tensor_data beside it.
#include <map>
#include <string>

#include "dump/layouts/family.h"
#include "dump/layouts/msprobe_facts.h"
#include "msprobe/dump_json.h"

namespace msdump {
namespace {

TableRow table_row(const MsprobeTensor& tensor, TextArena& arena) {
  TableRow row;
  row.facts.op_name = arena.keep(tensor.op_name);
  row.facts.op_type = arena.keep(tensor.op_type);
  row.facts.slot = tensor.slot.empty() ? "0" : arena.keep(tensor.slot);
  row.facts.io = io_of(tensor.io);
  row.facts.dtype = tensor.dtype.value_or(DType::kUndefined);
  row.shape = tensor.shape;
  if (tensor.shape && tensor.dtype) {
    if (const auto count = element_count(*tensor.shape)) row.bytes = bytes_of(*tensor.dtype, *count);
  }
  row.offset = tensor.offset;
  row.order = static_cast<uint32_t>(tensor.order);
  if (tensor.data_name) row.data_name = arena.keep(*tensor.data_name);
  return row;
}

CallValue call_value(const MsprobeArgument& argument, TextArena& arena) {
  using Kind = CallValue::Kind;
  const auto kind_of = [](MsprobeArgument::Kind kind) {
    switch (kind) {
      case MsprobeArgument::Kind::kNone: return Kind::kNone;
      case MsprobeArgument::Kind::kBool: return Kind::kBool;
      case MsprobeArgument::Kind::kNumber: return Kind::kNumber;
      case MsprobeArgument::Kind::kText: return Kind::kText;
      case MsprobeArgument::Kind::kList: return Kind::kList;
      case MsprobeArgument::Kind::kGroup: return Kind::kGroup;
    }
    return Kind::kNone;
  };
  return {kind_of(argument.kind), argument.is_dtype, arena.keep(argument.text)};
}

void add_arguments(const MsprobeCall& call, TextArena& arena, TableSink& sink) {
  const std::string_view op_name = arena.keep(call.op_name);
  for (const MsprobeArgument& argument : call.arguments)
    sink.argument(op_name, arena.keep(argument.slot), call_value(argument, arena));
}

class DumpJsonFamily final : public Family {
 public:
  DumpJsonFamily(std::string_view file_name, FileKind kind) : file_name_(file_name), kind_(kind) {}
  std::string_view name() const override { return file_name_; }
  FileKind kind() const override { return kind_; }
  bool has_elements() const override { return false; }

  Claim claim(const FileContext& file, NameFacts& /*facts*/) const override {
    return file.name == file_name_ ? Claim::kByName : Claim::kNo;
  }

  Status list_rows(const File& file, TextArena& arena, TableSink& sink) const override {
    MSDUMP_TRY(const DumpJson json, read_dump_json(file));
    std::map<const std::string*, std::string_view> kept;
    for (const MsprobeTensor& tensor : json.tensors) {
      TableRow row = table_row(tensor, arena);
      if (tensor.distribution != nullptr) {
        const auto [text, is_new] = kept.try_emplace(tensor.distribution.get());
        if (is_new) text->second = arena.keep(*tensor.distribution);
        row.distribution = text->second;
      }
      sink.row(row);
    }
    for (const MsprobeCall& call : json.calls) add_arguments(call, arena, sink);
    for (const MsprobeOverflow& one : json.overflows) sink.overflow(arena.keep(one.op_name), one.status, one.order);
    sink.problems(json.problems);
    return {};
  }

 private:
  std::string_view file_name_;
  FileKind kind_;
};

}  // namespace

const Family& dump_json_family() {
  static const DumpJsonFamily kFamily("dump.json", FileKind::kDumpJson);
  return kFamily;
}

const Family& debug_json_family() {
  static const DumpJsonFamily kFamily("debug.json", FileKind::kDebugJson);
  return kFamily;
}

}  // namespace msdump
