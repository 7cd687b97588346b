#include "profiles/msprobe/match.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::array<std::string_view, 4> kFloats{"Float16", "Float32", "Float64", "BFloat16"};
constexpr std::array<std::string_view, 8> kIntegers{"Int8",  "UInt8",  "Int16", "UInt16",
                                                    "Int32", "UInt32", "Int64", "UInt64"};
constexpr std::array<std::string_view, 2> kComplexes{"Complex64", "Complex128"};
constexpr std::string_view kTorch = "torch.";

template <size_t N>
bool is_mindspore(const std::array<std::string_view, N>& names, std::string_view dtype) {
  return std::find(names.begin(), names.end(), dtype) != names.end();
}

template <size_t N>
bool is_torch(const std::array<std::string_view, N>& names, std::string_view dtype) {
  return dtype.starts_with(kTorch) && std::any_of(names.begin(), names.end(), [&](std::string_view name) {
           return to_lower(name) == dtype.substr(kTorch.size());
         });
}

template <size_t N>
bool is_either(const std::array<std::string_view, N>& names, std::string_view dtype) {
  return is_mindspore(names, dtype) || is_torch(names, dtype);
}

std::string_view family_of(std::string_view dtype) {
  if (is_either(kFloats, dtype)) return "float";
  if (is_either(kIntegers, dtype)) return "int";
  if (is_either(kComplexes, dtype)) return "complex";
  return dtype == "Bool" || dtype == "torch.bool" ? "bool" : dtype;
}

// Removes the number of the call from {type}.{api}.{number}.{direction}.{io}.{slot}.
std::string without_call(std::string_view name) {
  std::string_view direction = "forward";
  if (name.find(direction) == std::string_view::npos) direction = "backward";
  const size_t at = name.find(direction);
  if (at == std::string_view::npos) return std::string(name);
  std::string_view before = name.substr(0, at);
  for (int part = 0; part < 2; ++part) before = before.substr(0, before.rfind('.'));
  const std::string_view after = name.substr(at + direction.size());
  return std::string(before) + "." + std::string(direction) + std::string(after.substr(0, after.find(direction)));
}

// A queue: items [first, end) of a side, looked up by name.
class Queue {
 public:
  explicit Queue(std::vector<uint32_t> names) : names_(std::move(names)) {}

  void append() {
    if (end_ == names_.size()) return;
    const uint32_t name = names_[end_];
    if (name >= places_.size()) places_.resize(name + 1);
    places_[name].items.push_back(end_++);
  }
  [[nodiscard]] bool empty() const { return first_ == end_; }
  [[nodiscard]] uint32_t first() const { return first_; }
  [[nodiscard]] uint32_t end() const { return end_; }
  [[nodiscard]] uint32_t last_name() const { return names_[end_ - 1]; }
  std::optional<uint32_t> find(uint32_t name) {
    if (name >= places_.size()) return std::nullopt;
    Places& places = places_[name];
    while (places.next < places.items.size() && places.items[places.next] < first_) ++places.next;
    if (places.next == places.items.size()) return std::nullopt;
    return places.items[places.next];
  }
  void drop_through(uint32_t item) { first_ = item + 1; }
  [[nodiscard]] size_t size() const { return names_.size(); }

 private:
  struct Places {
    std::vector<uint32_t> items;
    size_t next = 0;
  };
  std::vector<uint32_t> names_;
  std::vector<Places> places_;  // by name
  uint32_t first_ = 0, end_ = 0;
};

}  // namespace

Result<std::vector<MsprobePair>> match_exactly(const std::vector<std::string>& keys, const MsprobeItems& golden) {
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_key;
  for (uint32_t i = 0; i < golden.items.size(); ++i) by_key[golden.items[i].key].push_back(i);
  std::vector<MsprobePair> pairs;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const auto found = by_key.find(keys[i]);
    if (found == by_key.end()) {
      pairs.push_back({i, std::nullopt});
      continue;
    }
    if (pairs.size() + found->second.size() > kMostMsprobePairs) {
      return fail(ErrorCode::kTooLarge, "'{}' and others stand for so many items that there are more than {} rows",
                  excerpt(keys[i]), kMostMsprobePairs);
    }
    for (const uint32_t partner : found->second) pairs.push_back({i, partner});
  }
  return pairs;
}

std::vector<MsprobePair> match_fuzzily(const std::vector<std::string>& keys, const MsprobeItems& golden) {
  std::unordered_map<std::string, uint32_t> numbers;
  const auto number_of = [&](std::string_view name) {
    return numbers.emplace(without_call(name), static_cast<uint32_t>(numbers.size())).first->second;
  };
  std::vector<uint32_t> target_names, golden_names;
  for (const std::string& key : keys) target_names.push_back(number_of(key));
  for (const MsprobeItem& item : golden.items) golden_names.push_back(number_of(item.key));

  Queue target(std::move(target_names)), partners(std::move(golden_names));
  std::vector<MsprobePair> pairs;
  for (size_t i = 0; i < std::max(target.size(), partners.size()); ++i) {
    target.append();
    partners.append();
    if (target.empty() || partners.empty()) break;
    uint32_t item = target.end() - 1;
    auto partner = partners.find(target.last_name());
    if (!partner) {
      const auto skipped_to = target.find(partners.last_name());
      if (!skipped_to) continue;
      item = *skipped_to;
      partner = partners.end() - 1;
    }
    for (uint32_t alone = target.first(); alone < item; ++alone) pairs.push_back({alone, std::nullopt});
    pairs.push_back({item, partner});
    target.drop_through(item);
    partners.drop_through(*partner);
  }
  for (uint32_t alone = target.first(); alone < target.end(); ++alone) pairs.push_back({alone, std::nullopt});
  return pairs;
}

bool msprobe_dtypes_match(std::string_view target, std::string_view golden, bool cross_framework) {
  if (cross_framework) {
    target = family_of(target);
    golden = family_of(golden);
  }
  return target == golden || (is_mindspore(kFloats, target) && is_mindspore(kFloats, golden)) ||
         (is_torch(kFloats, target) && is_torch(kFloats, golden));
}

}  // namespace msdump
