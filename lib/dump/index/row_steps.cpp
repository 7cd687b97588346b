#include "dump/index/row_steps.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/numbers.h"
#include "dump/index/tensor_list.h"

namespace msdump {

std::string row_steps_hint(const DumpIndex& index, SelectionOptions& asked, const RunContext& context) {
  const auto ranges = IntRanges::parse(asked.step);
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
  const bool is_there = std::any_of(there.begin(), there.end(), [&](int64_t step) { return ranges->contains(step); });
  if (is_there) asked.step.clear();
  if (there.empty() || is_there) return {};
  return fmt::format("there {} {}", there.size() == 1 ? "is step" : "are steps",
                     ranges_text(std::vector(there.begin(), there.end())));
}

}  // namespace msdump
