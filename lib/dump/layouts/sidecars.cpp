#include "dump/layouts/sidecars.h"

#include "io/dir_walk.h"
#include "io/file.h"
#include "msprobe/dump_json.h"

namespace msdump {

DType Sidecars::dtype_of(std::string_view file_name) const {
  if (!json_outside_) return DType::kUndefined;
  std::call_once(loaded_, [this] { load(); });
  const auto found = dtypes_.find(file_name);
  return found == dtypes_.end() ? DType::kUndefined : found->second;
}

void Sidecars::load() const {
  for (const char* name : {"../dump.json", "../debug.json"}) {
    const auto file = File::open(join_path(folder_, name));
    if (!file) continue;
    const auto json = read_dump_json(*file);
    if (!json) continue;
    for (const MsprobeTensor& tensor : json->tensors) {
      if (tensor.data_name && tensor.dtype) dtypes_.emplace(*tensor.data_name, *tensor.dtype);
    }
  }
}

}  // namespace msdump
