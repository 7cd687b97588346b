// Writes one tensor: reads its bytes, unpacks, moves and widens the elements as the plan says, and writes the array.
//
// A small tensor is one read and one write. Large ones go through in windows (format/window.h) that the workers share, so
// that windows and workers bound the memory.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "dump/elements/stored_elements.h"
#include "format/plan.h"
#include "io/run_context.h"

namespace msdump {

// `header` comes before the elements (empty for raw output). Returns the size of the file. `path` appears only if the
// tensor was read to its end, the input did not change meanwhile, and everything was written.
Result<uint64_t> write_tensor(const PlannedTensor& source, const std::string& header, const std::string& path,
                              const RunContext& context);

// Bytes that `write_tensor` writes after the header.
[[nodiscard]] uint64_t output_bytes(const Plan& plan);

}  // namespace msdump
