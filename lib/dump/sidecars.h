// Sidecars: files beside tensor files that say what these do not: msprobe's dump.json (the dtype before bfloat16 was stored
// as float32) and statistic.csv (the shape of raw bytes). One object a folder; each sidecar is read when it is first asked
// for, once. What cannot be read says nothing here; the catalogue reports it where it lists that file itself.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "dump/identity.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

class Sidecars {
 public:
  explicit Sidecars(std::string folder) : folder_(std::move(folder)) {}

 private:
  std::string folder_;
};

}  // namespace msdump
