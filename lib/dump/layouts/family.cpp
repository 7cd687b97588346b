#include "dump/layouts/family.h"

#include <array>

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

Result<OpenedFile> Family::open(File file, const OpenContext& /*context*/) const {
  return fail(make_error(ErrorCode::kNotADump, "a {} holds no elements of tensors", name()).with_path(file.path()));
}

bool Family::recognises(std::span<const std::byte> head, uint64_t file_size) const {
  const auto has_signature = info(kind()).has_signature;
  return has_signature != nullptr && has_signature(FileHead(head, file_size));
}

Status Family::list_rows(const File& file, TextPool& /*texts*/, TableSink& /*sink*/) const {
  return fail(make_error(ErrorCode::kInternal, "a {} is not a table", name()).with_path(file.path()));
}

std::span<const Family* const> all_families() {
  static const std::array kFamilies = {
      &npy_family(),       &npz_family(),        &pt_family(),       &safetensors_family(), &ckpt_family(),
      &raw_family(),       &raw_bin_family(),    &atb_family(),      &monitor_family(),     &statistic_family(),
      &dump_json_family(), &debug_json_family(), &dump_pkl_family(), &ascend_family(),      &pt_checkpoint_family(),
      &dcp_family(),       &tensor_log_family()};
  return kFamilies;
}

}  // namespace msdump
