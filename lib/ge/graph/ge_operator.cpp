#include "ge/graph/ge_operator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ge/operators/operator_table.h"

namespace msdump {

void GeAttribute::add_value(std::string_view field, std::string_view value) {
  const bool several = field == "ints" || field == "floats";
  if (!several && field != "i" && field != "f" && field != "b") return;
  is_list = is_list || several;
  if (values.size() < kMostValues) values.emplace_back(value);
}

bool is_kept_of_operator(std::string_view key) {
  return key == kOriginalNames || key == kOriginalNamesOfVm || key == kParentIndex ||
         ge::OperatorTable::get().argument(key) != nullptr;
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
  } else if (!attribute.values.empty() && attribute.values.size() < GeAttribute::kMostValues) {
    std::string value = fmt::format("{}", fmt::join(attribute.values, ", "));
    op.arguments.emplace_back(std::move(attribute.key), attribute.is_list ? "(" + value + ")" : std::move(value));
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
