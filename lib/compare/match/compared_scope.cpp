#include "compare/match/compared_scope.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "base/containers.h"
#include "base/text.h"
#include "compare/match/pairing.h"

namespace msdump {

uint64_t ComparedPlaces::hash_of(const SequencedOp& one, uint64_t hash) const {
  hash = mix_hash(hash, one.dump);
  if (ranks) hash = mix_hash(hash, static_cast<uint64_t>(one.rank.value_or(-1)));
  return steps ? mix_hash(hash, static_cast<uint64_t>(one.step.value_or(-1))) : hash;
}

namespace {

using Place = ComparedPlaces::Place;
using Names = std::vector<std::string>;
using Numbers = std::set<std::optional<int64_t>>;

bool has_several_ranks(const std::vector<SequencedOp>& operators) {
  return std::any_of(operators.begin(), operators.end(),
                     [&](const SequencedOp& one) { return one.rank != operators.front().rank; });
}

Numbers steps_of(const CompareSide& side) {
  std::vector<bool> has_tensors(side.index->folders().size(), false);
  Numbers numbers;
  for (const TensorRecord& tensor : *side.tensors) {
    if (tensor.step == kStepOfFolder) {
      has_tensors[side.index->files()[tensor.file].folder] = true;
    } else {
      numbers.insert(tensor.step);
    }
  }
  for (size_t i = 0; i < has_tensors.size(); ++i) {
    if (has_tensors[i]) numbers.insert(side.index->folders()[i].identity.step);
  }
  return numbers;
}

// The name of the only dump of a side: that of the other side's dumps which is a folder in its paths; else empty.
std::string name_of_lone_dump(const CompareSide& side, const Names& others) {
  for (const IndexedFolder& folder : side.index->folders()) {
    for (const std::string_view part : split(folder.relative, '/')) {
      if (const auto found = std::find(others.begin(), others.end(), part); found != others.end()) return *found;
    }
  }
  return {};
}

Names names_only_in(const Names& here, const Names& there) {
  Names left;
  std::copy_if(here.begin(), here.end(), std::back_inserter(left),
               [&](const std::string& name) { return std::find(there.begin(), there.end(), name) == there.end(); });
  return left;
}

// Relates the dumps of the two sides: by name, else, if each side has one more, that one, and if no name is common, in order.
void relate_dumps(const CompareSide& a, const CompareSide& b, Pairing& pairing) {
  Sides<Names> names = {a.index->dumps(), b.index->dumps()};
  if (names.a.empty() && names.b.empty()) return;
  if (names.a.empty()) names.a = {name_of_lone_dump(a, names.b)};
  if (names.b.empty()) names.b = {name_of_lone_dump(b, names.a)};
  const Sides<Names> left = {names_only_in(names.a, names.b), names_only_in(names.b, names.a)};
  const bool none_common = left.a.size() == names.a.size();
  const size_t related =
      none_common || (left.a.size() == 1 && left.b.size() == 1) ? std::min(left.a.size(), left.b.size()) : 0;
  // The reference's dumps in their order, then those that the candidate alone has.
  pairing.dumps = names.b;
  for (uint32_t i = 0; i < names.b.size(); ++i) pairing.dump_numbers.b.push_back(i);
  for (const std::string& name : names.a) {
    const auto at = static_cast<size_t>(std::find(left.a.begin(), left.a.end(), name) - left.a.begin());
    const std::string& partner = at < related ? left.b[at] : name;
    const auto found = std::find(pairing.dumps.begin(), pairing.dumps.end(), partner);
    pairing.dump_numbers.a.push_back(static_cast<uint32_t>(found - pairing.dumps.begin()));
    if (found == pairing.dumps.end()) {
      pairing.dumps.push_back(name);
    } else if (!name.empty()) {
      *found = name;
    }
  }
  for (const Side side : kBothSides) {
    pairing.dumps_alone[side].assign(left[side].begin() + static_cast<std::ptrdiff_t>(related), left[side].end());
    for (SequencedOp& one : pairing.operators_of(side)) one.dump = pairing.common_dump(side, one.dump);
  }
}

std::set<Place> places_of(const std::vector<SequencedOp>& operators, const ComparedPlaces& compared) {
  std::set<Place> places;
  for (const SequencedOp& one : operators) {
    const Place place = compared.of(one);
    if (places.empty() || *places.rbegin() != place) places.insert(place);
  }
  return places;
}

}  // namespace

ComparedScope compared_scope(const CompareSide& a, const CompareSide& b, Pairing& pairing) {
  relate_dumps(a, b, pairing);
  ComparedScope scope;
  const Sides<Numbers> steps = {steps_of(a), steps_of(b)};
  scope.lone_step = steps.a.size() <= 1 && steps.b.size() <= 1;
  const auto have_steps = [&](Side side) {
    const std::vector<SequencedOp>& all = pairing.operators_of(side);
    return std::any_of(all.begin(), all.end(), [](const SequencedOp& one) { return one.step.has_value(); });
  };
  // A single rank or step on each side is compared whatever its number is. Operators have a step if each step has its own.
  scope.places.ranks = has_several_ranks(pairing.a) || has_several_ranks(pairing.b);
  scope.places.steps = !scope.lone_step && have_steps(Side::kCandidate) && have_steps(Side::kReference);
  const Sides<std::set<Place>> places = {places_of(pairing.a, scope.places), places_of(pairing.b, scope.places)};
  for (const Side side : kBothSides) {
    if (!scope.lone_step) {
      for (const auto& step : steps[side]) {
        if (step && !steps[opposite(side)].contains(step)) pairing.steps_alone[side].push_back(*step);
      }
    }
    for (const SequencedOp& one : pairing.operators_of(side))
      scope.outside[side].push_back(!places[opposite(side)].contains(scope.places.of(one)));
  }
  return scope;
}

}  // namespace msdump
