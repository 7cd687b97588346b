#include "compare/match/cut/piece_contents.h"

#include <algorithm>

#include "base/hash_slots.h"
#include "compare/match/cut/layout/piece_values.h"

namespace msdump {
namespace {

// NaN is like nothing.
std::optional<double> only_value(PieceValues& values, size_t piece, int64_t count) {
  constexpr int64_t kLooks = 64;
  if (count == 0) return std::nullopt;
  const int64_t looks = std::min(count, kLooks);
  std::vector<int64_t> looked_at;
  for (int64_t i = 0; i < looks; ++i) looked_at.push_back(i * (count / looks));
  values.fetch(piece, looked_at);
  const double first = values.at(piece, 0);
  for (const int64_t at : looked_at) {
    if (values.at(piece, at) != first) return std::nullopt;
  }
  return first;
}

}  // namespace

Result<PieceContents::Digests> PieceContents::of(std::span<const TensorRecord* const> records,
                                                 const CancelToken& cancel) {
  std::vector<Piece> pieces;
  {
    const std::scoped_lock lock(lock_);
    for (const TensorRecord* const record : records) {
      const auto known = known_.find(record);
      if (known == known_.end()) break;
      pieces.push_back(known->second);
    }
  }
  if (pieces.size() == records.size()) return digests_of(pieces);
  PieceValues values(index_, records, &failures_);
  if (!values.ok()) return Digests();
  const Result<std::vector<uint64_t>> digests = values.digests(cancel);
  if (!digests) {
    failures_.add(digests.error());
    return fail(digests.error());
  }
  pieces.clear();
  for (size_t i = 0; i < digests->size(); ++i) {
    const int64_t count = element_count(values.shapes()[i]).value_or(0);
    pieces.push_back({(*digests)[i], count == 0, only_value(values, i, count)});
  }
  const std::scoped_lock lock(lock_);
  for (size_t i = 0; i < records.size(); ++i) known_.try_emplace(records[i], pieces[i]);
  return digests_of(pieces);
}

PieceContents::Digests PieceContents::digests_of(std::span<const Piece> pieces) {
  Digests digests;
  digests.alike = true;
  std::optional<double> only;
  for (const Piece& piece : pieces) {
    digests.of_pieces.push_back(piece.digest);
    if (piece.empty) continue;
    digests.alike = digests.alike && piece.only && (!only || *only == *piece.only);
    only = piece.only;
  }
  return digests;
}

uint64_t contents_number(uint32_t ranks, std::span<const uint64_t> digests) {
  if (digests.empty()) return 0;
  uint64_t all = ranks + 1;
  for (const uint64_t digest : digests) all = mix_hash(all, digest);
  return all;
}

}  // namespace msdump
