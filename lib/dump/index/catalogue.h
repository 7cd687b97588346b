// A dump as a command uses it: its files, and those of its tensors that are selected.
#pragma once

#include <string>

#include "dump/index/dump_index.h"
#include "dump/index/selection.h"
#include "dump/index/tensor_list.h"

namespace msdump {

struct Catalogue {
  DumpIndex index;
  Selection selection;
  SelectionOptions asked;  // the source of `selection`
  TensorList list;
};

// What a selection that matches nothing probably meant: the nearest existing name, or the existing numbers.

// "did you mean --op-type Conv2D?", "there are steps 0-4"; empty when nothing is near.
[[nodiscard]] std::string near_miss(const DumpIndex& index, const SelectionOptions& options);

}  // namespace msdump
