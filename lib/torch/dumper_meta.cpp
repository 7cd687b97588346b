#include "torch/dumper_meta.h"

#include <optional>
#include <string_view>

#include "report/json.h"
#include "torch/dtensor.h"

namespace msdump::torch {
namespace {

constexpr size_t kLongestDims = 1024, kLongestAxis = 32;
constexpr size_t kMostItems = 512;  // keys and values of a dict of parallel axes

bool is_error(const PickleValue& key) { return key.kind == PickleKind::kText && key.text.ends_with("_error"); }

// The dict of parallel axes; null if there is none, or several frameworks say their own.
const PickleValue* parallel_info_of(const Pickle& pickle, PickleRef meta) {
  const PickleValue* found = nullptr;
  for (const std::string_view name : {"sglang_parallel_info", "megatron_parallel_info"}) {
    const auto ref = attribute_of(pickle, meta, name);
    if (!ref || pickle[*ref].kind != PickleKind::kDict) continue;
    const PickleValue& info = pickle[*ref];
    if (info.items.empty() || info.items.size() > kMostItems) continue;
    bool known = true;
    for (size_t i = 0; i < info.items.size(); i += 2) known = known && !is_error(pickle[info.items[i]]);
    if (!known) continue;
    if (found != nullptr) return nullptr;
    found = &info;
  }
  return found;
}

std::optional<int64_t> number_of(const Pickle& pickle, const PickleValue& dict, std::string_view axis,
                                 std::string_view suffix) {
  for (size_t i = 1; i < dict.items.size(); i += 2) {
    const PickleValue &key = pickle[dict.items[i - 1]], &value = pickle[dict.items[i]];
    const bool is_it = key.kind == PickleKind::kText && key.text.size() == axis.size() + suffix.size() &&
                       key.text.starts_with(axis) && key.text.ends_with(suffix);
    if (is_it) return value.kind == PickleKind::kInt ? std::optional(value.number) : std::nullopt;
  }
  return std::nullopt;
}

report::Object axes_of(const Pickle& pickle, const PickleValue& info) {
  constexpr std::string_view kRank = "_rank", kSize = "_size";
  report::Object axes;
  for (size_t i = 0; i < info.items.size(); i += 2) {
    const PickleValue& key = pickle[info.items[i]];
    if (key.kind != PickleKind::kText || !key.text.ends_with(kRank)) continue;
    const std::string_view axis = key.text.substr(0, key.text.size() - kRank.size());
    if (axis.empty() || axis.size() > kLongestAxis || axes.find(axis) != nullptr) continue;
    const auto rank = number_of(pickle, info, axis, kRank), size = number_of(pickle, info, axis, kSize);
    if (rank && size && *size > 1 && *rank >= 0 && *rank < *size)
      axes.add(std::string(axis), report::Object().add("rank", *rank).add("size", *size));
  }
  return axes;
}

}  // namespace

std::string dumper_distribution_of(const Pickle& pickle) {
  if (pickle[pickle.root].kind != PickleKind::kDict || !attribute_of(pickle, pickle.root, "value")) return {};
  const auto meta = attribute_of(pickle, pickle.root, "meta");
  const auto dims = meta ? attribute_of(pickle, *meta, "dims") : std::nullopt;
  if (!dims || pickle[*dims].kind != PickleKind::kText || pickle[*dims].text.size() > kLongestDims) return {};
  report::Object object;
  object.add("dims", std::string(pickle[*dims].text));
  const PickleValue* const info = parallel_info_of(pickle, *meta);
  object.add("parallel", info == nullptr ? report::Object() : axes_of(pickle, *info));
  std::string text;
  report::append_json(text, object);
  return text;
}

}  // namespace msdump::torch
