// Catalogue: a dump as a command uses it, with its files and the tensors that are selected.
#pragma once

#include <string>

#include "dump/index/dump_index.h"
#include "dump/index/selection.h"
#include "dump/index/tensor_list.h"

namespace msdump {

struct Catalogue {
  DumpIndex index;
  Selection selection;
  SelectionOptions asked;  // as typed; `selection` is made of it
  TensorList list;
};

// A hint for a selection that matches nothing: "did you mean --op-type Conv2D?", "there are steps 0-4". Empty if no name
// of the dump is near.
[[nodiscard]] std::string near_miss(const DumpIndex& index, const SelectionOptions& options);

}  // namespace msdump
