// Sidecars: what lies outside the catalogue and yet says something about its files. Who points msdump at one file of
// dump_tensor_data, or at that folder, has left out the dump.json above it, which alone knows that a float32 was bfloat16.
// One object a folder; it is read when it is first asked for, once. What cannot be read says nothing.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace msdump {

class Sidecars {
 public:
  // `json_outside`: the folder is msprobe's dump_tensor_data, and the catalogue has not its dump.json.
  explicit Sidecars(std::string folder, bool json_outside = false)
      : folder_(std::move(folder)), json_outside_(json_outside) {}

  // Of the framework's tensor in this file; kUndefined when nothing says it. Thread-safe.
  [[nodiscard]] DType dtype_of(std::string_view file_name) const;

 private:
  void load() const;
  std::string folder_;
  bool json_outside_;
  mutable std::once_flag loaded_;
  mutable std::map<std::string, DType, std::less<>> dtypes_;
};

}  // namespace msdump
