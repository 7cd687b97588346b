// One parameter of a checkpoint, as its file describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

struct StoredParameter {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;   // of all elements; unless there is a problem, all of them are in the file
  std::optional<Error> problem;
};

}  // namespace msdump
