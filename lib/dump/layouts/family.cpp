#include "dump/layouts/family.h"

#include <array>

namespace msdump {

Result<OpenedFile> Family::open(File file, const OpenContext& /*context*/) const {
  return fail(make_error(ErrorCode::kNotADump, "a {} holds no elements of tensors", name()).with_path(file.path()));
}

Status Family::list_rows(const File& file, TextArena& /*arena*/, TableSink& /*sink*/) const {
  return fail(make_error(ErrorCode::kInternal, "a {} is not a table", name()).with_path(file.path()));
}

std::span<const Family* const> all_families() {
  static const std::array kFamilies = {
      &npy_family(),       &npz_family(),        &pt_family(),     &safetensors_family(),  &ckpt_family(),
      &raw_family(),       &raw_bin_family(),    &atb_family(),    &monitor_family(),      &statistic_family(),
      &dump_json_family(), &debug_json_family(), &ascend_family(), &pt_checkpoint_family()};
  return kFamilies;
}

}  // namespace msdump
