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
  return fmt::format("there {} {}", there.size() == 1 ? "is step" : "are steps", ranges_text(there));
}

std::string ranges_text(const std::set<int64_t>& numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int64_t first = *at;
    int64_t last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at) last = *at;
    text += (text.empty() ? "" : ",") + std::to_string(first) + (last > first ? fmt::format("-{}", last) : "");
  }
  return text;
}

}  // namespace msdump
