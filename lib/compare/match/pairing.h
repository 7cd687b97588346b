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
#include "graph/flow/run_graph.h"

namespace msdump {

// Likeness: how much of two dumps is of one network, as the operators that have a pair of tensors of the same shape.
// Releases and frameworks share at least two in five; two networks, whose types and names are often the same, one in five.

struct Likeness {
  size_t alike = 0;       // operator pairs with a pair of tensors of the same shape
  size_t comparable = 0;  // operators of the side with fewer; tensors of one element do not count
  bool by_name = false;   // both sides have the same names throughout
  [[nodiscard]] bool two_networks() const { return !by_name && comparable >= 10 && alike * 10 < comparable * 3; }
};

// pair_sides(): pairs the operators and tensors of two dumps. Time stamps, tasks and streams of two runs mean nothing.
//
//   0. the user's mapping (rename/name_map.h); without one, wrappers around all modules of one side are removed from their
//      names (rename/name_map.h)
//   1. operators with the same name and type, if the two sides have the same names throughout. The graphs decide instead if
//      they disagree less without names: save_graphs may number the same operators differently. Calls of msprobe must come
//      from the same modules, and, where each line makes as many on both sides, from the same lines.
//      A folder that convert or check --golden made of some files of the other side is paired by the names of the files,
//      and so is what has neither time stamps nor msprobe's record of the order
//   2. if a compiler for the device named one side: by the operators that it renamed, split and fused
//      (device/device_match.h)
//   3. else by the graphs (graph_match.h), and the rest by position: the sequences of operators are aligned by their
//      neighbours in the data flow, then by type and scope, by the common name in both frameworks, by type (alignment.h).
//      Equal names prove nothing here: an additional operator renumbers others. Calls of msprobe have the partners of their
//      lines and modules first (pair_by_modules), and backward calls those of their forward calls
//   4. of the rest, names without numbers that only one operator on each side has
//   5. operators of one side in the place of one of the other side (graph_match.h): MaxPool that became AvgPool
//
// Checkpoints have no operators; parameters/parameter_pairing.h pairs them. Tensors of two operators are paired by io, slot,
// step and occurrence. A single step on each side is paired whatever its number, and so is a single rank.

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

// The indices of a pair on the two sides; kNoId on a side that lacks it.
template <class Id>
struct IndexPair : Sides<Id> {
  [[nodiscard]] bool is_paired() const { return this->a != kNoId && this->b != kNoId; }
  // The side that has it; the candidate if both have.
  [[nodiscard]] Side present_side() const { return this->a != kNoId ? Side::kCandidate : Side::kReference; }
  // The side that has it; the reference if both have.
  [[nodiscard]] Side known_side() const { return this->b != kNoId ? Side::kReference : Side::kCandidate; }
};

struct OpPair : IndexPair<SequencedOpId> {  // indices in Pairing::a and Pairing::b
  PairedBy how = PairedBy::kNothing;
  double confidence = 0;
};

// Why a tensor rightly has no partner.
enum class Alone : uint8_t {
  kUnknown,
  kInserted,         // its operator was inserted by the device's compiler
  kFused,            // between operators that are fused into one on the device
  kSplit,            // between operators of the device that are one operator of the network
  kNoOutput,         // the partner of its operator has no such output
  kAttribute,        // an attribute of the operator on the other side
  kNoKernel,         // its operator moves no data on the device, or is not needed there
  kNoParameters,     // the device's dump has no files of parameters
  kTied,             // a parameter with the values of one that has a partner
  kCommunication,    // of a collective between ranks that the other side does not have
  kElsewhere,        // compared with a tensor of another call of the other side
  kOtherRows,        // its rows are not those of tokens on both sides (tokens/token_view.h)
  kBackward,         // of the backward pass, which the other side does not have
  kOtherStatistics,  // statistics of other rows
};

struct TensorPair : IndexPair<RecordId> {  // indices in the sides' tensors; at least one is set
  OperatorId op;
  Alone alone = Alone::kUnknown;  // why one is not set
};

// A relation of parameters whose names form a class: {"concatenated", "w_qkv = concat(q, k, v; axis 0)", 32 layers}.
struct FoundRelation {
  std::string kind, text;
  uint64_t count = 0;
};

struct Pairing {
  std::vector<SequencedOp> a, b;
  std::vector<OpPair> operators;    // in the order of b, the reference; one of a alone follows its predecessor in a
  std::vector<TensorPair> tensors;  // by operator, by step, inputs before outputs, by slot
  Likeness likeness;                // none if a compiler for the device named the operators of one side
  Sides<std::vector<int64_t>> steps_alone;  // steps that the other side lacks, ascending; empty if each has one
  // If a side has several dumps (DumpIndex::dumps); else all three are empty.
  std::vector<std::string> dumps;               // of both sides, those that are compared with each other once
  Sides<std::vector<uint32_t>> dump_numbers;    // in `dumps`, by number on the side
  Sides<std::vector<std::string>> dumps_alone;  // that the other side lacks
  bool is_sharded = false;       // tensors are global ones, assembled (match/placement/sharded_pairing.h)
  bool other_framework = false;  // one side is a PyTorch dump of msprobe, the other is not
  ReachedLimits limits;          // bounds that the search for partners hit
  std::vector<Error> unread;     // files that could not be read while tensors were matched by values

  // For checkpoints (match/parameters/parameter_pairing.h), whose `operators` are parameters.
  bool of_parameters = false;
  std::vector<std::string> notes;  // by `tensors`: how the two are related
  std::vector<FoundRelation> relations;
  Sides<uint64_t> others = {0, 0};              // tensors that are not parameters; left out
  Sides<std::vector<int64_t>> compared_steps;   // ascending; the first of several is compared
  Sides<std::vector<std::string>> files_alone;  // paths of versions that are not compared

  [[nodiscard]] std::vector<SequencedOp>& operators_of(Side side) { return side == Side::kCandidate ? a : b; }
  [[nodiscard]] const std::vector<SequencedOp>& operators_of(Side side) const {
    return side == Side::kCandidate ? a : b;
  }

  // The number in `dumps` of a side's dump.
  [[nodiscard]] uint32_t common_dump(Side side, uint32_t dump) const {
    const std::vector<uint32_t>& numbers = dump_numbers[side];
    return dump < numbers.size() ? numbers[dump] : 0;
  }
  // The name of a dump in `dumps`; empty if each side has one dump.
  [[nodiscard]] std::string_view dump_name(uint32_t dump) const {
    return dump < dumps.size() ? std::string_view(dumps[dump]) : std::string_view();
  }

  // The name or type in the candidate, if it has the operator, else in the reference.
  [[nodiscard]] std::string_view op_name(OperatorId op) const { return named(op).name; }
  [[nodiscard]] std::string_view op_type(OperatorId op) const { return named(op).type; }

 private:
  [[nodiscard]] const SequencedOp& named(OperatorId op) const {
    const Side side = operators[op].present_side();
    return operators_of(side)[operators[op][side]];
  }
};

// True, by operator, if a tensor of it is unpaired for a known reason.
[[nodiscard]] std::vector<bool> alone_for_known_reason(const Pairing& pairing);

[[nodiscard]] Pairing pair_sides(const CompareSide& a, const CompareSide& b, const NameMap* map = nullptr);
// The same pairing with other partners: `partners` has the operator of b for each of a, or kNoId. Pairs that were not
// in `before` are marked as paired by values.
[[nodiscard]] Pairing pair_again(const CompareSide& a, const CompareSide& b, const Pairing& before,
                                 const std::vector<SequencedOpId>& partners);
// Pairs the only tensor of each side, whatever their names are.
[[nodiscard]] Pairing pair_single(const CompareSide& a, const CompareSide& b);

}  // namespace msdump
