// Any bytes as a tensor of an ATB operator.
#include "ascend/atb_tensor.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace msdump;
  const fuzz::FuzzFile input(data, size);
  const auto tensor = ascend::read_atb_tensor(input.open());
  if (!tensor) {
    fuzz::require_good_error(tensor.error());
    return 0;
  }
  fuzz::require(tensor->shape.size() <= kMaxRank, "the rank is limited");
  if (tensor->problem || !tensor->same_as.empty()) return 0;
  fuzz::require(tensor->offset <= size && tensor->bytes <= size - tensor->offset, "the elements end inside the file");
  return 0;
}
