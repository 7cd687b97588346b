// Pairing: which operators and tensors of two dumps belong together, what has no partner, and how the pairs were found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "compare/match/op_sequence.h"
#include "compare/match/rename/name_map.h"
#include "compare/sides.h"

namespace msdump {

// How much of two dumps is of one network: operators of which a pair of tensors has the same shape. Between releases and
// frameworks that are at least two in five; of two networks, whose types and even names are often the same, one in five.

struct Pairing;

struct Likeness {
  size_t alike = 0;       // pairs of operators
  size_t comparable = 0;  // operators of the side with fewer; tensors of one element are not compared
  bool by_name = false;   // both sides have the same names throughout
  [[nodiscard]] bool two_networks() const { return !by_name && comparable >= 10 && alike * 10 < comparable * 3; }
};

// `outside_a`, `outside_b`: operators that do not count.
[[nodiscard]] Likeness likeness_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                   const std::vector<bool>& outside_a, const std::vector<bool>& outside_b);

// Which operator and which tensor of one side is which of the other: never by time stamp, task or stream.
//
//   0. the user's mapping (rename/name_map.h); without one, wrappers that all modules of one side are in are left out of
//      their names (rename/name_map.h)
//   1. operators with the same name and type, when the two sides have the same names throughout, unless the graphs agree
//      much better without names: save_graphs numbers the same operators otherwise
//   2. where one side was named by a compiler for the device: by what it made of the operators (device/device_match.h)
//   3. else by the graphs (graph_match.h), and what is left by position: the sequences of operators are aligned by their
//      neighbours in the data flow, then by type and scope, by the common name in both frameworks, by type
//      (alignment.h). Equal names prove nothing here: an additional operator renumbers others
//   4. of the rest, names without numbers that only one operator on each side has
//   5. operators of one side alone in the place of one of the other side (graph_match.h): MaxPool that became AvgPool
// Checkpoints have no operators: parameters/parameter_pairing.h.
// Tensors of two operators: the same io, slot, step and occurrence. A single step on each side is paired whatever its
// number, and so is a single rank.

enum class PairedBy : uint8_t {
  kName,
  kNeighbours,
  kSequence,
  kLeftName,
  kUser,
  kCompiler,
  kValues,
  kReplaced,
  kRenamed,
  kNothing
};
[[nodiscard]] std::string_view explanation(PairedBy how);
[[nodiscard]] double confidence(PairedBy how);

// The indices of one thing on both sides; kNone on a side that lacks it.
struct IndexPair : Sides<uint32_t> {
  static constexpr uint32_t kNone = UINT32_MAX;
  IndexPair() : Sides{kNone, kNone} {}
  IndexPair(uint32_t index_a, uint32_t index_b) : Sides{index_a, index_b} {}

  [[nodiscard]] bool is_paired() const { return a != kNone && b != kNone; }
  // A side that has it: the candidate, if both have.
  [[nodiscard]] Side present_side() const { return a != kNone ? Side::kCandidate : Side::kReference; }
};

struct OpPair : IndexPair {  // in Pairing::a and Pairing::b
  PairedBy how = PairedBy::kNothing;
  double confidence = 0;
};

// Why a tensor has no partner, where it is right that it has none.
enum class Alone : uint8_t {
  kUnknown,
  kInserted,       // of an operator that the device's compiler inserted
  kFused,          // between operators that are one on the device
  kSplit,          // between operators of the device that are one of the network
  kNoOutput,       // an output that the operator has on the device alone
  kAttribute,      // an attribute of the operator on the other side
  kNoKernel,       // of an operator that moves no data on the device, or is not needed there
  kNoParameters,   // the device's dump has no files of parameters
  kTied,           // a parameter with the values of one that has a partner
  kCommunication,  // of a collective between ranks that the other side does not have
  kElsewhere,      // a value that the other side has in another call, where it is compared
};

struct TensorPair : IndexPair {   // in the sides' tensors; at least one has it
  uint32_t op = 0;                // in Pairing::operators
  Alone alone = Alone::kUnknown;  // where one is not set
};

// What was found of parameters whose names form a class: {"concatenated", "w_qkv = concat(q, k, v; axis 0)", 32 layers}.
struct FoundRelation {
  std::string kind, text;
  uint64_t count = 0;
};

struct Pairing {
  std::vector<SequencedOp> a, b;
  std::vector<OpPair> operators;            // in the order of b, the reference; each of a alone follows its predecessor
  std::vector<TensorPair> tensors;          // operator by operator; by step, inputs before outputs, by slot
  Likeness likeness;                        // none where a compiler for the device named the operators of one side
  Sides<std::vector<int64_t>> steps_alone;  // ascending: steps that the other side lacks, if one side has several
  bool is_sharded = false;                  // tensors are global ones, assembled (match/placement/sharded_pairing.h)
  bool other_framework = false;             // one side is a PyTorch dump of msprobe, the other is not
  ReachedLimits limits;                     // that the search for partners hit
  std::vector<Error> unread;                // files that could not be read to match tensors by their values

  // Of checkpoints (match/parameters/parameter_pairing.h); `operators` are parameters then.
  bool of_parameters = false;
  std::vector<std::string> notes;  // by `tensors`: how the two belong together
  std::vector<FoundRelation> relations;
  Sides<uint64_t> others = {0, 0};             // tensors that are no parameters, which are left out
  Sides<std::vector<int64_t>> compared_steps;  // ascending; of several, the first is compared

  [[nodiscard]] std::vector<SequencedOp>& operators_of(Side side) { return side == Side::kCandidate ? a : b; }
  [[nodiscard]] const std::vector<SequencedOp>& operators_of(Side side) const {
    return side == Side::kCandidate ? a : b;
  }

  // Of one of `operators`: the candidate's, where it has the operator.
  [[nodiscard]] const std::string& op_name(uint32_t op) const { return named(op).name; }
  [[nodiscard]] std::string_view op_type(uint32_t op) const { return named(op).type; }

 private:
  [[nodiscard]] const SequencedOp& named(uint32_t op) const {
    const Side side = operators[op].present_side();
    return operators_of(side)[operators[op][side]];
  }
};

// By operator: a tensor of it is alone for a known reason.
[[nodiscard]] std::vector<bool> alone_for_known_reason(const Pairing& pairing);

[[nodiscard]] Pairing pair_sides(const CompareSide& a, const CompareSide& b, const NameMap* map = nullptr);
// The same pairing, but with these partners: by operator of a its partner in b, or kNoOperator. Operators whose partner
// is another one than before are paired by values.
[[nodiscard]] Pairing pair_again(const CompareSide& a, const CompareSide& b, const Pairing& before,
                                 const std::vector<uint32_t>& partners);
// Pairs the only tensor of each side, whatever their names are.
[[nodiscard]] Pairing pair_single(const CompareSide& a, const CompareSide& b);

}  // namespace msdump
