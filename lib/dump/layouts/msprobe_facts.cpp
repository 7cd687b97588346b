#include "dump/layouts/msprobe_facts.h"

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

bool take_aclgraph_name(const FileContext& file, NameFacts& facts) {
  const auto name = parse_aclgraph_file_name(file.name);
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
  if (!name) return take_aclgraph_name(file, facts);
  facts.op_name = name->op_name;
  facts.op_type = file.arena.keep(name->op_type);
  facts.io = io_of(name->io);
  facts.slot = name->slot.empty() ? "0" : name->slot;
  return true;
}

std::string_view foreign_name(const FileContext& file, size_t suffix_bytes) {
  const std::string_view stem = file.name.substr(0, file.name.size() - suffix_bytes);
  return file.folder.empty() ? stem : file.arena.keep(join_path(file.folder, stem));
}

}  // namespace msdump
