#include "dump/index/row_steps.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/numbers.h"
#include "dump/index/tensor_list.h"

namespace msdump {

RowSteps row_steps(const DumpIndex& index, const std::string& asked, const RunContext& context) {
  const auto ranges = IntRanges::parse(asked);
  if (!ranges || ranges->empty()) return {};
  const bool have_folders = std::any_of(index.folders().begin(), index.folders().end(),
                                        [](const IndexedFolder& folder) { return folder.identity.step.has_value(); });
  if (have_folders) return {};
  const auto list = TensorList::read(index, Selection(), {}, context);
  if (!list) return {};
  std::set<int64_t> there;
  for (const TensorRecord& tensor : list->tensors()) {
    if (tensor.step != kStepOfFolder) there.insert(tensor.step);
  }
  if (there.empty()) return {};
  if (std::any_of(there.begin(), there.end(), [&](int64_t step) { return ranges->contains(step); })) return {true, {}};
  return {false, fmt::format("there {} {}", there.size() == 1 ? "is step" : "are steps",
                             ranges_text(std::vector(there.begin(), there.end())))};
}

}  // namespace msdump
