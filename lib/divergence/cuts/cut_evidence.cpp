#include "divergence/cuts/cut_evidence.h"

#include <algorithm>
#include <set>
#include <utility>

#include "check/ranks/collective_rules.h"

namespace msdump {
namespace {

// The tensors of a side, as Pairing::tensors has them.
using OfPair = uint32_t TensorPair::*;

// Of one of its pieces.
int64_t elements_of(const CutSide& side, uint32_t tensor) {
  const TensorRecord* const piece = side.members(tensor).records.front();
  return piece == nullptr || piece->shape == nullptr ? 0 : element_count(*piece->shape).value_or(0);
}

// Of the pieces of tensors that the side alone has: their numbers of elements, as views have other shapes.
std::set<int64_t> sizes_alone(const CutSide& side, const Pairing& pairing, OfPair own, OfPair other) {
  std::set<int64_t> sizes;
  for (const TensorPair& pair : pairing.tensors) {
    if (pair.*own != kNoTensor && pair.*other == kNoTensor) sizes.insert(elements_of(side, pair.*own));
  }
  return sizes;
}

// `sizes`: of the tensors that are read; null: all.
Result<std::vector<uint64_t>> find_contents(const CutSide& side, const Pairing& pairing, OfPair own,
                                            const std::set<int64_t>* sizes, const RunContext& context) {
  std::vector<uint64_t> contents(pairing.tensors.size(), 0);
  context.pool.parallel_for(static_cast<int64_t>(contents.size()), [&](int64_t i) {
    const uint32_t tensor = pairing.tensors[static_cast<size_t>(i)].*own;
    if (tensor == kNoTensor || context.cancel.cancelled()) return;
    if (sizes != nullptr && !sizes->contains(elements_of(side, tensor))) return;
    const CutSide::Members& members = side.members(tensor);
    const Result<PieceContents::Digests> digests = side.contents().of(members.records, context.cancel);
    if (digests && !digests->alike)
      contents[static_cast<size_t>(i)] = contents_number(members.ranks, digests->of_pieces);
  });
  MSDUMP_CHECK_OK(context.cancel.check());
  return contents;
}

Result<std::map<uint32_t, BrokenExchange>> find_broken(const CutSide& a, const Pairing& pairing,
                                                       const DumpWithGraph& candidate, const RunContext& context) {
  MSDUMP_TRY(const std::vector<check::Finding> findings, check::broken_exchanges(candidate, context));
  std::map<const TensorRecord*, const check::Finding*> by_record;
  for (const check::Finding& finding : findings) by_record.emplace(&(*candidate.tensors)[finding.tensor], &finding);
  std::map<uint32_t, BrokenExchange> broken;
  for (uint32_t tensor = 0; tensor < pairing.tensors.size() && !findings.empty(); ++tensor) {
    if (pairing.tensors[tensor].a == kNoTensor) continue;
    for (const TensorRecord* const record : a.members(pairing.tensors[tensor].a).records) {
      const auto found = by_record.find(record);
      if (found != by_record.end())
        broken.try_emplace(tensor, BrokenExchange{found->second->ranks, found->second->message});
    }
  }
  return broken;
}

}  // namespace

Result<CutEvidence> cut_evidence(const CutSide& a, const CutSide& b, const Pairing& pairing,
                                 const std::vector<CutNote>& notes, const DumpWithGraph& candidate,
                                 const RunContext& context) {
  CutEvidence evidence;
  evidence.both_cut = std::any_of(notes.begin(), notes.end(), [](const CutNote& note) { return !note.b.dims.empty(); });
  for (const CutNote& note : notes) {
    // What lies on one rank of each side has no layout. Of two layouts at once, others of the kind do not tell enough.
    const bool whole = note.a.dims.empty() && note.b.dims.empty();
    evidence.known.push_back(whole || (note.known && !evidence.both_cut));
    evidence.parts.push_back(note.a.has(CutRole::kConcat) || note.a.has(CutRole::kZigzag));
  }
  // Calls that were given a partner are after those that the side has.
  for (const TensorPair& pair : pairing.tensors) {
    const uint32_t op = pairing.operators[pair.op].a;
    evidence.made_up.push_back(op != kNoOperator && op >= a.operators().size());
  }
  for (const OpPair& pair : pairing.operators)
    evidence.programs.push_back(pair.a < a.operators().size() ? a.program_of(pair.a) : kNoOperator);
  const std::set<int64_t> sizes = sizes_alone(a, pairing, &TensorPair::a, &TensorPair::b);
  MSDUMP_TRY(evidence.contents_a, find_contents(a, pairing, &TensorPair::a, &sizes, context));
  evidence.contents_b.assign(pairing.tensors.size(), 0);
  if (evidence.both_cut) {
    MSDUMP_TRY(evidence.contents_b, find_contents(b, pairing, &TensorPair::b, nullptr, context));
  }
  MSDUMP_TRY(evidence.broken, find_broken(a, pairing, candidate, context));
  return evidence;
}

}  // namespace msdump
