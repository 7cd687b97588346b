// AsNobody: permissions count for this process while one lives, also when the tests run as root.
#pragma once

#include <unistd.h>

#include "support/catch.h"

namespace msdump {

class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0) {
    if (was_root_) works_ = ::seteuid(65534) == 0;
    if (!works_) WARN("root cannot become another user here: what permissions forbid is not tested");
  }
  ~AsNobody() {
    if (was_root_ && works_) works_ = ::seteuid(0) == 0;
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  [[nodiscard]] bool works() const { return works_; }

 private:
  bool was_root_;
  bool works_ = true;
};

}  // namespace msdump
