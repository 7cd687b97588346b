// Sidecars: files outside the catalogue that say something about its files. If msdump is given one file of
// dump_tensor_data, or that folder, the dump.json above it is outside, and it alone knows that a float32 was bfloat16.
// One object per folder reads them once, on first use. A sidecar that cannot be read says nothing.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace msdump {

class Sidecars {
 public:
  // `json_outside`: the folder is msprobe's dump_tensor_data, and its dump.json is not in the catalogue.
  explicit Sidecars(std::string folder, bool json_outside = false)
      : folder_(std::move(folder)), json_outside_(json_outside) {}

  // The dtype of the framework's tensor in this file; kUndefined if nothing says it. Thread-safe.
  [[nodiscard]] DType dtype_of(std::string_view file_name) const;

 private:
  void load() const;
  std::string folder_;
  bool json_outside_;
  mutable std::once_flag loaded_;
  mutable std::map<std::string, DType, std::less<>> dtypes_;
};

}  // namespace msdump
