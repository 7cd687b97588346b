#include "dump/index/kept_lists.h"

#include <algorithm>
#include <utility>

namespace msdump {

std::shared_ptr<const KeptLists::List> KeptLists::find(const IndexedFile& file) {
  const std::lock_guard lock(mutex_);
  const auto found = lists_.find(&file);
  if (found == lists_.end()) return nullptr;
  found->second.used = ++now_;
  return found->second.list;
}

void KeptLists::add(const IndexedFile& file, std::shared_ptr<const List> list) {
  const std::lock_guard lock(mutex_);
  Kept& kept = lists_[&file];
  if (kept.list != nullptr) tensors_ -= kept.list->tensors.size();
  tensors_ += list->tensors.size();
  kept = {std::move(list), ++now_};
  while (tensors_ > most_ && lists_.size() > 1) {
    const auto oldest = std::min_element(lists_.begin(), lists_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    tensors_ -= oldest->second.list->tensors.size();
    lists_.erase(oldest);
  }
}

}  // namespace msdump
