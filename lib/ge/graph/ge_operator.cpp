#include "ge/graph/ge_operator.h"

#include <algorithm>
#include <utility>

namespace msdump {

bool is_kept_of_operator(std::string_view key) {
  return key == kOriginalNames || key == kOriginalNamesOfVm || key == kParentIndex;
}

bool is_kept_of_tensor(std::string_view key) {
  return key == kOriginFormat || key == kOriginShape || key == kOriginName || key == kOriginIndex ||
         key == kParentIndex;
}

void set_attribute(GeOperator& op, GeAttribute&& attribute) {
  if (attribute.key == kParentIndex) {
    op.parent_index = attribute.number.value_or(0);
  } else if (attribute.key == kOriginalNames || attribute.key == kOriginalNamesOfVm) {
    op.originals = std::move(attribute.texts);
  }
}

void set_attribute(GeTensor& tensor, GeAttribute&& attribute) {
  if (attribute.key == kOriginFormat) tensor.origin_format = std::move(attribute.text).value_or("");
  if (attribute.key == kOriginShape) tensor.origin_shape = Shape(attribute.numbers.begin(), attribute.numbers.end());
  if (attribute.key == kOriginName) tensor.origin_name = std::move(attribute.text).value_or("");
  if (attribute.key == kParentIndex) tensor.parent_index = attribute.number.value_or(0);
  if (attribute.key == kOriginIndex)
    tensor.origin_index = static_cast<uint32_t>(std::clamp<int64_t>(attribute.number.value_or(0), 0, UINT32_MAX));
}

}  // namespace msdump
