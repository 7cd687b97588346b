// Reads any run of host elements of a tensor whose elements change places, in buffers of a fixed size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "dump/elements/stored_elements.h"
#include "format/plan.h"
#include "io/file.h"

namespace msdump {

struct PlannedTensor {
  const File& file;
  StoredElements elements;
  const Plan& plan;
};

// Host elements [first, first + count) into `into`. Besides `into` it needs some MiB, whatever the tensor's size. Thread-safe.
Status read_host_range(const PlannedTensor& tensor, int64_t first, int64_t count, std::byte* into);

}  // namespace msdump
