#include "dump/family.h"

#include <array>

namespace msdump {

std::span<const Family* const> all_families() {
  static const std::array<const Family*, 3> kFamilies = {&npy_family(), &raw_bin_family(), &ascend_family()};
  return kFamilies;
}

}  // namespace msdump
