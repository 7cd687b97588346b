// HostOperators: the operators of the host by what a device operator can say of them, and which have been taken: those for
// which a device operator stands.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/containers.h"
#include "compare/match/device/device_name.h"
#include "compare/match/device/match_evidence.h"
#include "compare/match/op_sequence.h"
#include "ge/operators/operator_table.h"

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

// HostNeighbours: which operators of the host feed which, by its graph. Without one: the nearest operators that nothing has
// taken and that hold the same values.

class HostNeighbours {
 public:
  // The arguments outlive it.
  HostNeighbours(MatchEvidence& evidence, const HostOperators& hosts) : evidence_(evidence), hosts_(hosts) {}

  [[nodiscard]] std::vector<uint32_t> producers_of(uint32_t host);
  // kNoOperator where there are none or several that are not taken.
  [[nodiscard]] uint32_t only_free_consumer(uint32_t host);
  // Operators of these families that are not taken, each of which feeds a later one; empty when there are none. Without
  // a graph, and without values that show it, the nearest before.
  [[nodiscard]] std::vector<uint32_t> chain_that_ends(const std::vector<std::string>& families, uint32_t end);

 private:
  [[nodiscard]] std::vector<uint32_t> consumers_of(uint32_t host);
  [[nodiscard]] bool feeds(uint32_t producer, uint32_t consumer);

  MatchEvidence& evidence_;
  const HostOperators& hosts_;
};

// Claims: which operators of the network the operators of a device dump stand for, as their names, files and types say.
// Which operators of the host meet the claims is found by operator_rewrites.h and device_match.cpp.
//
//   1. A name of one operator or of several claims each of them (device_name.h)
//   2. Where the type is not that of the only name, an operator of the type is fused with the named one and comes first
//   3. The file of the first output may say what the last operator was

struct OperatorClaim {
  [[nodiscard]] bool is_met() const { return host != kNoOperator; }

  uint32_t device = 0;    // operator
  OpKey key;              // of what is claimed
  OriginalName original;  // empty type: only the type says so, or it is a parameter
  bool is_last = false;   // of its device operator, whose outputs are those of what it claims

  // What has met it.
  uint32_t host = kNoOperator;           // operator; the last of `rewritten`
  bool is_part = false;                  // of `host`, for which other device operators stand, too
  const ge::Rewrite* rewrite = nullptr;  // that explains the claim, if one does
  uint32_t part = 0;                     // which of the device operators of `rewrite` this is
  std::vector<uint32_t> rewritten;       // the operators of the host that `rewrite` replaced
};

class Claims {
 public:
  Claims(const MatchEvidence& evidence, const HostOperators& hosts);

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(all_.size()); }
  [[nodiscard]] OperatorClaim& operator[](uint32_t index) { return all_[index]; }
  [[nodiscard]] const OperatorClaim& operator[](uint32_t index) const { return all_[index]; }
  [[nodiscard]] auto begin() { return all_.begin(); }
  [[nodiscard]] auto end() { return all_.end(); }

  // Of a device operator, in the order of the data flow.
  [[nodiscard]] std::span<OperatorClaim> of(uint32_t device) {
    return std::span(all_).subspan(first_[device], first_[device + 1] - first_[device]);
  }
  // nullptr: it claims nothing.
  [[nodiscard]] OperatorClaim* last_of(uint32_t device) {
    const std::span<OperatorClaim> claims = of(device);
    return claims.empty() ? nullptr : &claims.back();
  }

 private:
  std::vector<OperatorClaim> all_;  // by device operator
  std::vector<uint32_t> first_;     // of each, and one more
};

// The operator is taken: it meets no other claim afterwards.
inline void meet(OperatorClaim& claim, uint32_t host, HostOperators& hosts) {
  claim.host = host;
  hosts.take(host);
}

// How alike operators of the device and of the host are, by the shapes and the values of their tensors.

inline constexpr double kAlike = 0.9, kUnlike = 0.7;  // correlations
inline constexpr double kHalfOfInputs = 0.45;         // share: one of two, of which the other may be wrong
// Limits of claims times operators that are compared by one tensor and by all inputs; more are met in order.
inline constexpr size_t kMostCompared = size_t{1} << 20, kMostComparedByInputs = size_t{1} << 14;
inline constexpr ReachedLimit kComparedLimit = {"device_operators", kMostCompared,
                                                "operators of the device were met in order, not by their values"};
inline constexpr ReachedLimit kComparedByInputsLimit = {
    "device_operators_by_inputs", kMostComparedByInputs,
    "operators of the device were met without comparing their inputs"};

struct Fit {
  bool shapes = true;            // false: they differ
  std::optional<double> values;  // similarity (match_evidence.h)
};
// Of the outputs where the claim is the last of its operator, else of the inputs.
[[nodiscard]] Fit fit_of(const OperatorClaim& claim, uint32_t host, MatchEvidence& evidence);

// Of a tensor of the device and the largest output of an operator of the host.
[[nodiscard]] std::optional<double> likeness_of_output(uint32_t device_tensor, uint32_t host, MatchEvidence& evidence);

// How many of the inputs of the operator that has fewer are among those of the other, as a share; what is not alike
// counts a little. 0 where nothing is known.
[[nodiscard]] double likeness_of_inputs(uint32_t device, uint32_t host, MatchEvidence& evidence);

// False only where the two are known to have different numbers of elements.
[[nodiscard]] bool same_count(uint32_t device_tensor, uint32_t host_tensor, const MatchEvidence& evidence);

// A likeness with its sign reversed, a claim, an operator of the host. Sorted, the best come first.
using RatedPairs = std::vector<std::tuple<double, uint32_t, uint32_t>>;

}  // namespace msdump
