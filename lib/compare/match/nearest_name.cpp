#include "compare/match/nearest_name.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr size_t kLongestName = 512;           // no operator's name is longer
constexpr size_t kMostTableCells = 256 * 256;  // of the table of a distance

// The distance if it is below `bound`, else `bound`. The common beginning and end of both names are left out.
size_t distance_below(size_t bound, std::string_view a, std::string_view b) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap >= bound) return bound;
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  return a.size() * b.size() > kMostTableCells ? bound : std::min(bound, edit_distance(a, b));
}

uint32_t nearest_to(const Pairing& pairing, uint32_t place) {
  const OpPair& alone = pairing.operators[place];
  const bool of_a = alone.a != kNoOperator;
  const std::string& name = of_a ? pairing.a[alone.a].name : pairing.b[alone.b].name;
  if (name.size() > kLongestName) return kNoOperator;
  const std::string plain = to_lower(normalised_op_name(name));
  const size_t first = place - std::min(place, kNamesAround);
  const size_t end = std::min(pairing.operators.size(), size_t{place} + kNamesAround + 1);
  uint32_t nearest = kNoOperator;
  size_t bound = plain.size() / 3 + 1;
  for (size_t i = first; i < end && bound > 0; ++i) {
    const uint32_t other = of_a ? pairing.operators[i].b : pairing.operators[i].a;
    if (other == kNoOperator) continue;
    const std::string& there = (of_a ? pairing.b : pairing.a)[other].name;
    const size_t distance = distance_below(bound, plain, to_lower(normalised_op_name(there)));
    if (distance == bound) continue;
    bound = distance;
    nearest = other;
  }
  return nearest;
}

}  // namespace

std::vector<uint32_t> nearest_names(const Pairing& pairing, WorkerPool& pool) {
  std::vector<uint32_t> result(pairing.operators.size(), kNoOperator), asked;
  size_t of_a = 0, of_b = 0;
  for (uint32_t i = 0; i < pairing.operators.size(); ++i) {
    const OpPair& pair = pairing.operators[i];
    if (pair.a != kNoOperator && pair.b != kNoOperator) continue;
    const bool has_tensors = !(pair.a != kNoOperator ? pairing.a[pair.a] : pairing.b[pair.b]).tensors.empty();
    size_t& count = pair.a != kNoOperator ? of_a : of_b;
    if (has_tensors && count++ < kNamesAsked) asked.push_back(i);
  }
  pool.parallel_for(static_cast<int64_t>(asked.size()), [&](int64_t index) {
    const uint32_t place = asked[static_cast<size_t>(index)];
    result[place] = nearest_to(pairing, place);
  });
  return result;
}

}  // namespace msdump
