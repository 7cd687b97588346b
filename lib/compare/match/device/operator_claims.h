// HostOperators: the operators of the host by place, scope and family, which is what the device knows of them. It notes which
// are taken, that is, have a device operator that stands for them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/containers.h"
#include "compare/match/device/device_name.h"
#include "compare/match/device/match_evidence.h"
#include "compare/match/op_sequence.h"
#include "compare/sample/best_pairs.h"
#include "ge/operators/operator_table.h"

namespace msdump {

// The key by which a claim of the device finds operators of the host.
struct OpKey {
  OperatorPlace place;
  std::string scope, family;  // normalised; of ge/operators/operator_table.h
  auto operator<=>(const OpKey&) const = default;
};

class HostOperators {
 public:
  explicit HostOperators(const MatchEvidence& evidence);

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(group_of_.size()); }
  [[nodiscard]] const OpKey& key(SequencedOpId host) const { return groups_[group_of_[host]].key; }

  // A group is the operators of one key.
  [[nodiscard]] uint32_t groups() const { return static_cast<uint32_t>(groups_.size()); }
  // HashSlots::kNone if no operator has the key.
  [[nodiscard]] uint32_t find_group(const OpKey& key) const;
  [[nodiscard]] bool has_key(const OpKey& key) const { return find_group(key) != HashSlots::kNone; }
  // The operators in their order, taken or not.
  [[nodiscard]] const std::vector<SequencedOpId>& in_group(uint32_t group) const { return groups_[group].operators; }
  [[nodiscard]] const std::vector<SequencedOpId>& with_key(const OpKey& key) const;
  [[nodiscard]] bool has_family(const std::string& family) const { return families_.contains(family); }

  void take(SequencedOpId host) { taken_[host] = true; }
  [[nodiscard]] bool is_taken(SequencedOpId host) const { return taken_[host]; }
  // The operators of `hosts` that are not taken.
  [[nodiscard]] std::vector<SequencedOpId> free_of(const std::vector<SequencedOpId>& hosts) const;

 private:
  struct Group {
    OpKey key;
    std::vector<SequencedOpId> operators;
  };

  std::vector<uint32_t> group_of_;  // by operator
  std::vector<Group> groups_;       // in the order of their first operators
  HashSlots group_of_key_;
  std::set<std::string> families_;
  std::vector<bool> taken_;  // by operator
};

// HostNeighbours: the producers and consumers of host operators, by the graph. Without a graph, they are the nearest
// operators that are not taken and hold the same values.

class HostNeighbours {
 public:
  // The arguments must outlive this.
  HostNeighbours(MatchEvidence& evidence, const HostOperators& hosts) : evidence_(evidence), hosts_(hosts) {}

  [[nodiscard]] std::vector<SequencedOpId> producers_of(SequencedOpId host);
  // The only consumer that is not taken; kNoId if there are none or several.
  [[nodiscard]] SequencedOpId only_free_consumer(SequencedOpId host);
  // Operators of these families that are not taken, each of which feeds a later one, and the last of which is `end`. Empty
  // if there are none. Without a graph, and without values that show it, takes the nearest before.
  [[nodiscard]] std::vector<SequencedOpId> chain_that_ends(const std::vector<std::string>& families, SequencedOpId end);

 private:
  [[nodiscard]] bool feeds(SequencedOpId producer, SequencedOpId consumer);

  MatchEvidence& evidence_;
  const HostOperators& hosts_;
};

// Claims: the operators of the network that the operators of a device dump stand for, by their names, files and types.
// meet_by_rewrites() and device_match.cpp match them with operators of the host.
//
//   1. A name of one or several operators claims each of them (device_name.h).
//   2. If the type is not that of the only name, an operator of the type is fused with the named one and comes first.
//   3. The file of the first output may name the last operator.

struct OperatorClaim {
  [[nodiscard]] bool is_met() const { return host != kNoId; }

  SequencedOpId device;   // device operator
  OpKey key;              // of the claimed operator
  OriginalName original;  // empty type: claimed by the type of the device operator alone, or a parameter
  bool is_last = false;   // of its device operator, whose outputs are those of the last claim

  // The host operator that is matched with the claim.
  SequencedOpId host;                    // the last of `rewritten`
  bool is_part = false;                  // of `host`, which other device operators stand for, too
  const ge::Rewrite* rewrite = nullptr;  // explains the claim; may be null
  uint32_t part = 0;                     // index of the device operator in `rewrite`
  std::vector<SequencedOpId> rewritten;  // host operators that `rewrite` replaced
};

// By device operator, in the order of the data flow.
using Claims = std::vector<OperatorClaim>;
[[nodiscard]] Claims claims_of(const MatchEvidence& evidence, const HostOperators& hosts);

// Matches a claim with an operator, which is taken from then on.
inline void meet(OperatorClaim& claim, SequencedOpId host, HostOperators& hosts) {
  claim.host = host;
  hosts.take(host);
}

// Matches splits and fusions that are known by the types of their operators (ge/operators/rewrites.txt), within a scope. The
// device then has more operators of the new types than the host, and the host has more of the old types. Values decide which
// operators are paired, else the order does.
void meet_by_rewrites(Claims& claims, HostOperators& hosts, HostNeighbours& neighbours, MatchEvidence& evidence);

// How similar operators of the device and of the host are, by the shapes and the values of their tensors.

inline constexpr double kHalfOfInputs = kAlike / 2;  // one of two, of which the other may be wrong
// Limits on claims times operators that are compared by one tensor, and by all inputs. Beyond them, the order decides.
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
// Compares the largest outputs if the claim is the last of its operator and their values are known, else the largest inputs.
[[nodiscard]] Fit fit_of(const OperatorClaim& claim, SequencedOpId host, MatchEvidence& evidence);

// The similarity of a device tensor and the largest output of a host operator.
[[nodiscard]] std::optional<double> likeness_of_output(RecordId device_tensor, SequencedOpId host,
                                                       MatchEvidence& evidence);

// The share of inputs that both have, of those of the operator with fewer. Other inputs count a little. 0 if unknown.
[[nodiscard]] double likeness_of_inputs(SequencedOpId device, SequencedOpId host, MatchEvidence& evidence);

}  // namespace msdump
