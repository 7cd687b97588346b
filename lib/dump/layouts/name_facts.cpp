#include "dump/layouts/name_facts.h"

#include <algorithm>
#include <array>

#include "io/dir_walk.h"

namespace msdump {

Io io_of(MsprobeIo io) {
  switch (io) {
    case MsprobeIo::kInput: return Io::kInput;
    case MsprobeIo::kOutput: return Io::kOutput;
    case MsprobeIo::kParameter: return Io::kParameter;
    case MsprobeIo::kDebug: return Io::kDebug;
  }
  return Io::kOutput;
}

namespace {

bool take_respelled(const std::optional<RespelledName>& name, const FileContext& file, NameFacts& facts) {
  if (!name) return false;
  facts.op_name = file.arena.keep(name->op_name);
  facts.op_type = name->op_type;
  facts.io = io_of(name->io);
  facts.slot = name->slot.empty() ? "0" : name->slot;
  return true;
}

}  // namespace

bool take_msprobe_name(const FileContext& file, NameFacts& facts) {
  const auto name = parse_msprobe_file_name(file.name);
  if (!name) return take_respelled(parse_aclgraph_file_name(file.name), file, facts);
  facts.op_name = name->op_name;
  facts.op_type = file.arena.keep(name->op_type);
  facts.io = io_of(name->io);
  facts.slot = name->slot.empty() ? "0" : name->slot;
  return true;
}

bool take_ptdbg_name(const FileContext& file, NameFacts& facts) {
  return take_respelled(parse_ptdbg_name(file.name.substr(0, file.name.rfind('.'))), file, facts);
}

std::string_view foreign_name(const FileContext& file, size_t suffix_bytes) {
  const std::string_view stem = file.name.substr(0, file.name.size() - suffix_bytes);
  return file.folder.empty() ? stem : file.arena.keep(join_path(file.folder, stem));
}

void take_operator(const DumpFileName& name, NameFacts& facts) {
  facts.op_type = name.op_type;
  facts.op_name = name.op_name;
  facts.task_id = name.task_id;
  facts.stream_id = name.stream_id;
  facts.timestamp = name.timestamp;
}

void take_converted_name(const FileContext& file, const ConvertedName& name, NameFacts& facts) {
  if (name.file.empty()) {
    facts.op_type = "Parameter";
    facts.io = Io::kParameter;
    if (name.shape) {
      facts.op_name = name.parameter;
      facts.slot = name.slot;
    }
  } else {
    const FileContext source{name.file, file.folder, file.identity, file.arena};
    const std::array families = {&ascend_family(), &raw_bin_family(), &raw_family(), &atb_family()};
    const bool known = std::any_of(families.begin(), families.end(), [&](const Family* family) {
      facts = {};
      return family->claim(source, facts) == Claim::kByName;
    });
    if (!known) {
      facts = {};
      facts.op_name = foreign_name(source, 0);
    }
    if (facts.io != Io::kParameter) facts.io = facts.op_type == "Parameter" ? Io::kParameter : name.io;
    facts.slot = name.slot;
  }
  facts.format = name.format;
  facts.dtype = name.dtype.value_or(DType::kUndefined);
}

}  // namespace msdump
