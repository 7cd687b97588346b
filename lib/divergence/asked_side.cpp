#include "divergence/asked_side.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "graph/arguments/argument_value.h"

namespace msdump {
namespace {

using From = InputEdge::From;

}  // namespace

AskedSide::AskedSide(const CompareSide& dump, const Pairing& pairing, bool of_a, const QuestionTerms& terms,
                     SameValues constants, const SameSlots& same)
    : dump_(dump),
      pairing_(pairing),
      of_a_(of_a),
      same_(with_slots(std::move(constants), same)),
      questions_(*dump.graph, terms, same_),
      pairs_(dump.graph->size()),
      readers_(dump.graph->size(), [&graph = *dump.graph](auto&& visit) {
        for (OpId op{0}; op < graph.size(); ++op) {
          if (!graph.has_kernel(op)) continue;
          for (const InputEdge& edge : inputs_of(graph, op)) {
            if (edge.from == From::kOperator) visit(edge.op, op);
          }
        }
      }) {
  for (OperatorId pair{0}; pair < pairing.operators.size(); ++pair) {
    if (const OpId op = op_of(pair); op != kNoId) pairs_[op] = pair;
  }
  find_backward();
}

SameValues AskedSide::with_slots(SameValues values, const SameSlots& same) const {
  for (const auto& [pair, slot] : same) {
    if (const OpId op = op_of(pair); op != kNoId)
      values.insert_or_assign({op, slot}, mix_hash(mix_hash(text_hash("same"), pair), slot));
  }
  return values;
}

OpId AskedSide::op_of(OperatorId pair) const {
  const SequencedOpId place = of_a_ ? pairing_.operators[pair].a : pairing_.operators[pair].b;
  return place == kNoId ? OpId() : (of_a_ ? pairing_.a : pairing_.b)[place].op;
}

bool AskedSide::passes_gradient(OpId op) const {
  const auto is_float = [&](OpId one) {
    const IrGraph& ir = graph().ir(one);
    const auto types = ir.outputs(graph().node(one).host);
    const auto dtype = types.empty() ? std::nullopt : ir.types[types.front()].known_dtype();
    return !dtype || kind_of(*dtype) == DTypeKind::kFloat;
  };
  const std::vector<InputEdge> edges = inputs_of(graph(), op);
  return is_float(op) && std::any_of(edges.begin(), edges.end(), [&](const InputEdge& edge) {
           return edge.from == From::kOperator && backward_[edge.op] && is_float(edge.op);
         });
}

bool AskedSide::is_frontier(OpId op, const AskedSide& other) const {
  if (!graph().has_kernel(op) || !is_new(op, other)) return false;
  const std::vector<InputEdge> edges = inputs_of(graph(), op);
  return std::none_of(edges.begin(), edges.end(), [&](const InputEdge& edge) {
    const OpId from = asked(edge);
    return from != kNoId && same_.count({op, edge.slot}) == 0 && is_new(from, other);
  });
}

uint64_t AskedSide::source(OpId op, const InputEdge& edge) const {
  const OpId from = asked(edge);
  return from == kNoId || pairs_[from] == kNoId ? questions_.of(op, edge)
                                                : mix_hash(mix_hash(text_hash("pair"), pairs_[from]), edge.output);
}

std::string AskedSide::source_name(OpId op, const InputEdge& edge) const {
  const InputEdge from = behind_moves(edge);
  switch (from.from) {
    case From::kConstant: {
      const auto value = parse_argument(literal_of(from.constant));
      return value ? value->text() : excerpt(from.constant);
    }
    case From::kParameter: {
      const IrGraph& ir = graph().ir(op);
      return std::string(ir.text(ir.parameters[from.parameter].name));
    }
    case From::kOperator: {
      const std::string name(graph().leaf(from.op));
      return from.output > 0 ? fmt::format("output {} of {}", from.output, name) : name;
    }
    case From::kUnknown: break;
  }
  return "an unknown value";
}

AskedSide::JointReaders AskedSide::joint_readers(OpId op, const std::set<OperatorId>& rewritten, ReachedLimits& limits,
                                                 std::set<OperatorId>* between) const {
  JointReaders found;
  std::set<OpId> seen = {op};
  std::vector<OpId> next = {op};
  while (!next.empty()) {
    const OpId at = next.back();
    next.pop_back();
    for (const OpId reader : readers(at)) {
      if (is_paired(reader) && rewritten.count(pair(reader)) == 0) {
        for (const InputEdge& edge : inputs_of(graph(), reader)) {
          if (edge.from == From::kOperator && edge.op == at) found[pair(reader)].insert(edge.slot);
        }
      } else if (seen.size() == kMostFollowed) {
        limits.insert(kFollowedLimit);
      } else if (seen.insert(reader).second) {
        next.push_back(reader);
        if (between != nullptr) between->insert(pair(reader));
      }
    }
  }
  return found;
}

// The value that an input reads before casts, moves and reshapes that its question leaves out.
InputEdge AskedSide::behind_moves(InputEdge edge) const {
  for (int hops = 0; edge.from == From::kOperator && questions_.is_left_out(edge.op); ++hops) {
    if (hops == kMostTried) return {};
    edge = inputs_of(graph(), edge.op).front();
  }
  return edge;
}

void AskedSide::find_backward() {
  backward_.assign(graph().size(), false);
  std::vector<OpId> next;
  for (OpId op{0}; op < graph().size(); ++op) {
    if (!graph().has_kernel(op) || !is_gradient_name(graph().scope(op))) continue;
    backward_[op] = true;
    next.push_back(op);
  }
  while (!next.empty()) {
    const OpId op = next.back();
    next.pop_back();
    for (const OpId reader : readers_.of(op)) {
      if (backward_[reader]) continue;
      backward_[reader] = true;
      next.push_back(reader);
    }
  }
}

}  // namespace msdump
