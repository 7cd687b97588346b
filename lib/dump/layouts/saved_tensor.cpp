#include "dump/layouts/saved_tensor.h"

namespace msdump {

StoredTensor stored_tensor_of(const torch::PtTensor& tensor) {
  StoredTensor stored;
  stored.offset = tensor.offset;
  stored.bytes = stored.request.bytes = tensor.bytes;
  stored.request.dtype = tensor.dtype;
  stored.request.shape = tensor.shape;
  stored.request.format_number = static_cast<int64_t>(Format::kND);
  stored.big_endian = tensor.big_endian;
  stored.zip = tensor.zip;
  stored.pieces = tensor.pieces;
  stored.distribution = tensor.distribution;
  stored.problem = tensor.problem;
  return stored;
}

}  // namespace msdump
