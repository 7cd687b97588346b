// Any bytes as a checkpoint of MindSpore.
#include "checkpoint/ms_ckpt.h"
#include "fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace msdump;
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  (void)looks_like_ms_ckpt(file.head(), file.size());
  const auto found = read_ms_ckpt(file);
  if (!found) {
    fuzz::require_good_error(found.error());
    return 0;
  }
  for (const StoredParameter& tensor : found->tensors) {
    fuzz::require(tensor.shape.size() <= kMaxRank, "the rank is limited");
    if (tensor.problem) continue;
    fuzz::require(element_count(tensor.shape).has_value(), "a good tensor has a count");
    fuzz::require(tensor.offset <= size && tensor.bytes <= size - tensor.offset, "the elements end inside the file");
  }
  return 0;
}
