// One parameter of a checkpoint, as its file describes it.
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
  uint64_t bytes = 0;             // of all elements; unless there is a problem, all of them are in the file
  std::vector<FilePiece> pieces;  // of the elements, in order; empty: they follow each other
  std::optional<Error> problem;

  void give_up(Error why) { problem = std::move(why).with_tensor(name); }

  // Sets the problem if the dtype is not known (then `word` is what the file has), if shape and dtype do not take
  // `bytes`, or if the last of these bytes is not in the file. `needed` is what shape and dtype take; no value: none of the sizes
  // that a file can have.
  void check_elements(std::string_view word, std::optional<uint64_t> needed, uint64_t file_size);
};

}  // namespace msdump
