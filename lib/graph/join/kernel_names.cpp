#include "graph/join/kernel_names.h"

#include <algorithm>

namespace msdump {

std::string KernelNames::of(OpId op) const {
  NormalName name;
  assign(op, name);
  return std::string(name.full());
}

void KernelNames::prepare() {
  prepared_ = true;
  std::vector<OpId> kernels;
  for_each_kernel([&](const Origin&, OpId op) { kernels.push_back(op); });
  first_of_name_ = HashSlots(kernels.size());
  next_of_name_.assign(graph_.size(), kNoIndex);
  std::vector<OpId> last_of_name(graph_.size());
  NormalName name, other;
  for (const OpId op : kernels) {
    assign(op, name);
    longest_ = std::max(longest_, name.full().size());
    const OpId first = first_of_name_.find_or_add(name_hash(name.full()), op, [&](OpId known) {
      assign(known, other);
      return other.full() == name.full();
    });
    if (first != op) next_of_name_[last_of_name[first]] = op;
    last_of_name[first] = op;
  }
}

std::vector<OpId> KernelNames::find(std::string_view name, const TensorGroup& group) {
  if (!prepared_) prepare();
  std::vector<OpId> found;
  if (name.size() > longest_) return found;
  const NormalName normal(name);
  OpId op = first_of_name_.find(name_hash(normal.full()), [&](OpId known) { return of(known) == normal.full(); });
  for (; op != kNoIndex && found.size() < kMostNamesakes; op = next_of_name_[op]) {
    if (same_place(graph_.origin(op), group)) found.push_back(op);
  }
  return found;
}

}  // namespace msdump
