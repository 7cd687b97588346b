// The kinds of files that record a run as msprobe's dump.json does: names, shapes and statistics of its tensors.
#pragma once

#include "base/error.h"
#include "dump/names/file_kind.h"
#include "io/file.h"
#include "msprobe/dump_json.h"

namespace msdump {

[[nodiscard]] bool is_like_dump_json(FileKind kind);

// `kind` must be one of these.
Result<DumpJson> read_like_dump_json(FileKind kind, const File& file, const DumpJsonLimits& limits = {});

}  // namespace msdump
