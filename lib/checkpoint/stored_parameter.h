// A parameter of a checkpoint, from the header of its file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

struct StoredParameter {
  std::string name;
  DType dtype = DType::kUndefined;
  Shape shape;
  uint64_t offset = 0;            // in the file
  uint64_t bytes = 0;             // of all elements; inside the file, unless there is a problem
  std::vector<FilePiece> pieces;  // of the elements, in order; empty: they are contiguous
  std::optional<Error> problem;

  void give_up(Error why) { problem = std::move(why).with_tensor(name); }

  // Sets the problem if the dtype is unknown (`word` in the file), if `bytes` is not `needed`, or if the file is too short.
  // `needed` is the size for shape and dtype; no value: more than any file has.
  void check_elements(std::string_view word, std::optional<uint64_t> needed, uint64_t file_size);
};

}  // namespace msdump
