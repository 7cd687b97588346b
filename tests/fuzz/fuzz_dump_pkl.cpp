// Any bytes as a dump.pkl.
#include <string_view>

#include "fuzz_file.h"
#include "msprobe/dump_pkl.h"

using namespace msdump;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)looks_like_dump_pkl(text.substr(0, text.find('\n')));
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  const auto pkl = read_dump_pkl(file);
  if (!pkl) {
    fuzz::require_good_error(pkl.error());
    return 0;
  }
  size_t before = 0;
  for (const MsprobeTensor& tensor : pkl->tensors) {
    require(tensor.order >= 0 && tensor.order < pkl->entries, "a tensor belongs to a call");
    require(tensor.offset < size && tensor.offset >= before, "tensors are in the order of their lines");
    require(tensor.shape && tensor.shape->size() <= kMaxRank, "the rank is limited");
    require(!tensor.slot.empty() && !tensor.op_name.empty(), "a tensor has a name");
    require(!tensor.data_name || tensor.data_name->find('/') == std::string::npos, "a data_name stays in its folder");
    before = tensor.offset;
  }
  for (const Error& problem : pkl->problems) {
    fuzz::require_good_error(problem);
    require(problem.offset && *problem.offset <= size, "a problem says where");
  }
  return 0;
}
