// Any bytes as a log of tensor hashes.
#include <string_view>

#include "fuzz_file.h"
#include "msprobe/tensor_log.h"

using namespace msdump;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)rank_of_tensor_log(std::string_view(reinterpret_cast<const char*>(data), size));
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  const auto log = read_tensor_log(file);
  if (!log) {
    fuzz::require_good_error(log.error());
    return 0;
  }
  size_t before = 0;
  for (const MsprobeTensor& tensor : log->tensors) {
    require(tensor.order >= 0 && tensor.order < log->entries, "a tensor belongs to an operator");
    require(tensor.offset < size && tensor.offset > before, "tensors are in the order of the text");
    require(!tensor.shape || tensor.shape->size() <= kMaxRank, "the rank is limited");
    require(!tensor.slot.empty() && !tensor.op_name.empty(), "a tensor has a name");
    require(!tensor.md5 || tensor.md5->size() < 200, "a hash is short");
    before = tensor.offset;
  }
  for (const Error& problem : log->problems) {
    fuzz::require_good_error(problem);
    require(problem.offset && *problem.offset <= size, "a problem says where");
  }
  return 0;
}
