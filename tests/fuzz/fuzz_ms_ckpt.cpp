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
    std::vector<FilePiece> pieces = tensor.pieces;
    if (pieces.empty()) pieces.push_back({0, tensor.offset});
    fuzz::require(pieces.front().begin == 0 && pieces.front().offset == tensor.offset, "the first piece is the first");
    for (size_t i = 0; i < pieces.size(); ++i) {
      const uint64_t end = i + 1 < pieces.size() ? pieces[i + 1].begin : tensor.bytes;
      fuzz::require(end > pieces[i].begin || pieces.size() == 1, "no piece is empty");
      fuzz::require(pieces[i].offset <= size && end - pieces[i].begin <= size - pieces[i].offset,
                    "the elements end inside the file");
    }
  }
  return 0;
}
