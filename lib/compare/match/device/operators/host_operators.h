// HostOperators: the operators of the host by what a device operator can say of them, and which have been taken: those for
// which a device operator stands.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/hash_slots.h"
#include "compare/match/device/match_evidence.h"

namespace msdump {

// What a claim of the device and an operator of the host have in common.
struct OpKey {
  std::optional<int64_t> rank;  // none where a single rank is compared
  std::string scope, family;    // normalised; of ge/operators/operator_table.h
  auto operator<=>(const OpKey&) const = default;
};

class HostOperators {
 public:
  explicit HostOperators(const MatchEvidence& evidence);

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(group_of_.size()); }
  [[nodiscard]] const OpKey& key(uint32_t host) const { return groups_[group_of_[host]].key; }

  // Those of one key are a group.
  [[nodiscard]] uint32_t groups() const { return static_cast<uint32_t>(groups_.size()); }
  // HashSlots::kNone: none has the key.
  [[nodiscard]] uint32_t find_group(const OpKey& key) const;
  [[nodiscard]] bool has_key(const OpKey& key) const { return find_group(key) != HashSlots::kNone; }
  // In their order, taken or not.
  [[nodiscard]] const std::vector<uint32_t>& in_group(uint32_t group) const { return groups_[group].operators; }
  [[nodiscard]] const std::vector<uint32_t>& with_key(const OpKey& key) const;
  [[nodiscard]] bool has_family(const std::string& family) const { return families_.contains(family); }

  void take(uint32_t host) { taken_[host] = true; }
  [[nodiscard]] bool is_taken(uint32_t host) const { return taken_[host]; }
  // Those that are not taken.
  [[nodiscard]] std::vector<uint32_t> free_of(const std::vector<uint32_t>& hosts) const;

 private:
  struct Group {
    OpKey key;
    std::vector<uint32_t> operators;
  };

  std::vector<uint32_t> group_of_;  // by operator
  std::vector<Group> groups_;       // in the order of their first operators
  HashSlots group_of_key_;
  std::set<std::string> families_;
  std::vector<bool> taken_;  // by operator
};

}  // namespace msdump
