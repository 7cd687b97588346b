// Any bytes as a .safetensors file, and as the header of one.
#include <algorithm>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;

void check(const File& file) {
  const auto found = read_safetensors(file);
  if (!found) return fuzz::require_good_error(found.error());
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const StoredParameter& tensor : found->tensors) {
    require(tensor.shape.size() <= kMaxRank, "the rank is limited");
    if (tensor.problem) {
      require(!tensor.problem->message.empty(), "a problem says something");
      continue;
    }
    require(element_count(tensor.shape).has_value(), "a good tensor has a count");
    require(tensor.offset <= file.size() && tensor.bytes <= file.size() - tensor.offset,
            "the elements end inside the file");
    places.emplace_back(tensor.offset, tensor.bytes);
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i)
    require(places[i - 1].first + places[i - 1].second <= places[i].first, "no two tensors overlap");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check(fuzz::FuzzFile(data, size).open());
  std::vector<uint8_t> framed(8);
  for (size_t i = 0; i < framed.size(); ++i) framed[i] = static_cast<uint8_t>(uint64_t{size} >> (8 * i));
  framed.insert(framed.end(), data, data + size);
  framed.resize(framed.size() + 32);
  check(fuzz::FuzzFile(framed.data(), framed.size()).open());
  return 0;
}
