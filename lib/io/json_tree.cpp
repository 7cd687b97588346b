#include "io/json_tree.h"

#include <algorithm>

namespace msdump {
namespace {

constexpr size_t kMaxDepth = 100;

}  // namespace

bool JsonTree::open(JsonKind kind, size_t offset) {
  if (open_.size() == kMaxDepth) {
    refusal_ = fmt::format("nested deeper than {}, the most that msdump reads", kMaxDepth);
    return false;
  }
  Open& opened = open_.emplace_back();
  opened.value.kind = kind;
  opened.value.offset = offset;
  return true;
}

bool JsonTree::close() {
  JsonValue value = std::move(open_.back().value);
  open_.pop_back();
  const auto spare = [](const auto& list) { return (list.capacity() - list.size()) * sizeof(list[0]); };
  used_ -= spare(value.items) + spare(value.members);
  value.items.shrink_to_fit();
  value.members.shrink_to_fit();
  return attach(std::move(value));
}

bool JsonTree::put(JsonKind kind, std::string_view text, size_t offset, bool boolean) {
  JsonValue value;
  value.kind = kind;
  value.offset = offset;
  value.boolean = boolean;
  return keep_text(text, value.text) && attach(std::move(value));
}

bool JsonTree::key(std::string_view text, size_t offset) {
  JsonMember member;
  member.key_offset = offset;
  open_.back().waits_for_value = true;
  return keep_text(text, member.key) && append(open_.back().value.members, std::move(member));
}

bool JsonTree::wants_key() const {
  return !open_.empty() && open_.back().value.is(JsonKind::kObject) && !open_.back().waits_for_value;
}

bool JsonTree::attach(JsonValue&& value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return true;
  }
  Open& parent = open_.back();
  if (parent.value.is(JsonKind::kArray)) return append(parent.value.items, std::move(value));
  parent.value.members.back().value = std::move(value);
  parent.waits_for_value = false;
  return true;
}

bool JsonTree::keep_text(std::string_view text, std::string& into) {
  if (!charge(text.size() > into.capacity() ? text.size() + 1 : 0)) return false;
  into.assign(text);
  return true;
}

// While a vector grows, its old and its new memory both exist.
template <class T>
bool JsonTree::append(std::vector<T>& to, T&& item) {
  const size_t before = to.capacity();
  if (to.size() == before) {
    const size_t after = std::max<size_t>(1, 2 * before);
    if (!charge(after * sizeof(T))) return false;
    to.reserve(after);
    used_ -= before * sizeof(T);
  }
  to.push_back(std::forward<T>(item));
  return true;
}

bool JsonTree::charge(size_t bytes) {
  used_ += bytes;
  if (used_ <= budget_) return true;
  refusal_ = fmt::format("its values take more than {} MiB of memory, the most that msdump allows", budget_ >> 20);
  return false;
}

}  // namespace msdump
