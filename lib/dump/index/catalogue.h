// A dump as a command uses it: its files, and those of its tensors that are selected.
#pragma once

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

}  // namespace msdump
