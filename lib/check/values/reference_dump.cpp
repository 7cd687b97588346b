#include "check/values/reference_dump.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "compare/match/pairing.h"
#include "graph/join/dump_operators.h"

namespace msdump::check {

using recompute::Array;
using recompute::Maybe;
using recompute::Reason;
using recompute::Tensor;

namespace {

// False also if one cannot be read.
bool are_same_elements(const Array& a, const Array& b) {
  const int64_t size = recompute::size_of(a.shape);
  if (size != recompute::size_of(b.shape)) return false;
  std::vector<double> of_a, of_b;
  for (int64_t first = 0; first < size; first += recompute::kBlockElements) {
    const int64_t count = std::min(recompute::kBlockElements, size - first);
    const Maybe<const double*> x = elements_of(a, first, count, of_a), y = elements_of(b, first, count, of_b);
    const auto same = [](double u, double v) {
      return u == v || std::bit_cast<uint64_t>(u) == std::bit_cast<uint64_t>(v);
    };
    if (!x || !y || !std::equal(*x, *x + count, *y, same)) return false;
  }
  return true;
}

}  // namespace

ReferenceDump::ReferenceDump(Catalogue catalogue, const CheckedDump& dump)
    : catalogue_(std::move(catalogue)),
      dump_(dump),
      files_{&catalogue_.index, &catalogue_.list.tensors()},
      own_(dump.dump(), dump.operators(), recompute::kMostElements),
      other_(files_, operators_of(files_), recompute::kMostElements),
      partner_(dump.tensors()) {
  // The names of the files are compared: the reference has no graph.
  const DumpWithGraph own{&dump.index(), dump.dump().tensors};
  for (const TensorPair& pair : pair_sides(own, files_).tensors) {
    if (pair.is_paired()) partner_[tensor_of(pair.a)] = tensor_of(pair.b);
  }
}

Maybe<Tensor> ReferenceDump::output(TensorId tensor) const {
  if (partner_[tensor] == kNoId) return recompute::unjudged(Reason::kNoInput, "the reference does not have it");
  for (const RunInput& input : dump_.runs()[dump_.run_of(tensor)].inputs) {
    if (input.tensor == kNoId || partner_[input.tensor] == kNoId) continue;
    const Maybe<Array> own = own_.open(input.tensor, nullptr), other = other_.open(partner_[input.tensor], nullptr);
    if (own && other && !are_same_elements(*own, *other))
      return recompute::unjudged(Reason::kNoInput, fmt::format("the reference read another input {}", input.slot));
  }
  return other_.read(partner_[tensor], nullptr);
}

}  // namespace msdump::check
