#include "dump/layouts/dump_json_kinds.h"

#include "msprobe/dump_pkl.h"
#include "msprobe/tensor_log.h"

namespace msdump {

bool is_like_dump_json(FileKind kind) {
  return kind == FileKind::kDumpJson || kind == FileKind::kDebugJson || kind == FileKind::kDumpPkl ||
         kind == FileKind::kTensorLog;
}

Result<DumpJson> read_like_dump_json(FileKind kind, const File& file, const DumpJsonLimits& limits) {
  switch (kind) {
    case FileKind::kDumpPkl: return read_dump_pkl(file, limits);
    case FileKind::kTensorLog: return read_tensor_log(file, limits);
    default: return read_dump_json(file, limits);
  }
}

}  // namespace msdump
