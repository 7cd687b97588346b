#include "compare/match/parameters/parameter_pairing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/containers.h"
#include "base/numbers.h"
#include "compare/limits.h"
#include "compare/match/parameters/parameter_side.h"
#include "compare/match/parameters/parameter_views.h"
#include "compare/match/parameters/same_parameters.h"

namespace msdump {
namespace {

constexpr size_t kMostJoinedViews = size_t{1} << 19;  // views that may be tried: some seconds
constexpr size_t kMostJoinedPairs = size_t{1} << 24;  // classes times parameters
constexpr ReachedLimit kTriedLimit = {
    "joined_parameters", kMostJoinedPairs,
    "there are too many parameters without a partner to look for those that were joined"};
constexpr ReachedLimit kCandidatesLimit = {"joined_candidates", kMostTried,
                                           "a parameter has too many possible parts to look for them"};
constexpr ReachedLimit kPlacesLimit = {"joined_places", kMostTried,
                                       "a part was looked for at some places of a joined parameter only"};
constexpr ReachedLimit kJoinedViewsLimit = {"joined_views", kMostJoinedViews,
                                            "not all places of parts in joined parameters were tried"};

bool is_alike(const JoinedPart& one, const JoinedPart& other) {
  return one.axis == other.axis && one.groups == other.groups && one.transposed == other.transposed;
}

// Finds parameters that are joined into one parameter of the other side: queries, keys and values; gate and up; the experts of
// a layer.
//
// Values show where each part lies in the joined parameter. It lies along one axis, as one run or in as many equal groups as
// the others, and may be transposed. Together the parts fill the joined parameter. A part whose values prove nothing takes
// what the others leave.
//
// The biases of the same modules are joined as their weights are.
class JoinedParameters {
 public:
  // `side`: that of the joined parameter.
  JoinedParameters(ParameterLinks& links, Side side)
      : links_(links), side_(side), whole_(links.of(side)), parts_(links.of(opposite(side))) {}

  void run() {
    const size_t most = whole_.free_classes().size() * parts_.size();
    if (most > kMostJoinedPairs) {
      links_.limits.insert(kTriedLimit);
      return;
    }
    for (const uint32_t of_class : whole_.free_classes()) {
      for (const uint32_t whole : spread(free_members(of_class))) {
        if (!whole_.is_free(whole)) break;
        const Numbers& numbers = whole_.parsed(whole).numbers;
        auto found = concatenated(whole, numbers);
        if (!found) found = stacked(whole, numbers);
        if (!found) continue;
        join(of_class, whole, *found);
        if (!found->extra) join_biases(of_class, found->parts);
        break;
      }
    }
  }

 private:
  struct Part {
    uint32_t item = kNoItem;
    JoinedPart place;
    double likeness = 0;
  };
  using Parts = std::vector<Part>;
  using Numbers = std::vector<int64_t>;
  struct Joined {
    Parts parts;
    std::optional<size_t> extra = {};  // index of the number that the parts have and the joined parameter has not
  };

  [[nodiscard]] bool may_be_part(uint32_t item, uint32_t whole) const {
    const Sides<uint32_t> items = sides_from(side_, whole, item);
    return links_.may_link(items.a, items.b);
  }

  [[nodiscard]] std::vector<uint32_t> free_members(uint32_t of_class) const {
    std::vector<uint32_t> free = whole_.free_members(of_class);
    std::erase_if(free, [&](uint32_t item) { return whole_.shape(item) == nullptr; });
    return free;
  }

  // 0 if the values there are others.
  [[nodiscard]] double likeness_at(uint32_t whole, uint32_t item, const JoinedPart& place) {
    if (views_left_ == 0) {
      links_.limits.insert(kJoinedViewsLimit);
      return 0;
    }
    --views_left_;
    const TensorView view = joined_view(*whole_.shape(whole), place, *parts_.shape(item));
    return likeness_of_view(whole_.sampled(whole), view, parts_.values(item));
  }

  // The nearest place of a part, over numbers of groups and positions in a group. A position is a sum of extents of other
  // parts, so positions are multiples of the greatest common divisor of the extents.
  [[nodiscard]] std::optional<Part> find_part(uint32_t whole, uint32_t item, const std::vector<uint32_t>& others) {
    const Shape& shape = *whole_.shape(whole);
    const Shape plain = without_ones(shape);
    std::optional<Part> best;
    for (const JoinedPart& simple : joined_places(shape, *parts_.shape(item))) {
      const int64_t extent = plain[simple.axis], both = std::gcd(extent, simple.extent);
      std::vector<int64_t> extents;
      for (const uint32_t other : others) {
        for (const JoinedPart& place : joined_places(shape, *parts_.shape(other))) {
          if (is_alike(place, simple)) extents.push_back(place.extent);
        }
      }
      for (const int64_t groups : divisors_of(both)) {
        JoinedPart place = simple;
        place.groups = groups;
        place.extent = simple.extent / groups;
        const int64_t block = extent / groups, own = std::gcd(place.extent, block);
        int64_t step = own;
        for (const int64_t other : extents) {
          if (other % groups == 0) step = std::gcd(step, other / groups);
        }
        const bool few = block / step > int64_t{kMostTried};
        if (few) step = own;
        if (block / step > int64_t{kMostTried}) step = block - place.extent;
        for (; place.begin + place.extent <= block; place.begin += step) {
          const double found = likeness_at(whole, item, place);
          if (found > (best ? best->likeness : 0)) best = Part{item, place, found};
        }
        if (few && !best) links_.limits.insert(kPlacesLimit);
      }
    }
    return best;
  }

  // The parts that together fill the joined parameter: those found, and in each gap between them a blind part that fits.
  [[nodiscard]] std::optional<Parts> tiled(uint32_t whole, Parts found, const std::vector<uint32_t>& blind) const {
    const Shape& shape = *whole_.shape(whole);
    std::sort(found.begin(), found.end(), [](const Part& x, const Part& y) {
      return x.place.begin != y.place.begin ? x.place.begin < y.place.begin : x.likeness > y.likeness;
    });
    for (const Part& first : found) {
      const int64_t block = without_ones(shape)[first.place.axis] / first.place.groups;
      Parts parts;
      std::vector<uint32_t> left = blind;
      int64_t at = 0;
      const auto fill = [&](int64_t end) {
        for (size_t i = 0; i < left.size() && at < end; ++i) {
          for (JoinedPart place : joined_places(shape, *parts_.shape(left[i]))) {
            if (place.extent != (end - at) * first.place.groups) continue;
            place.groups = first.place.groups;
            place.extent = end - at;
            place.begin = at;
            if (!is_alike(place, first.place)) continue;
            parts.push_back({left[i], place, 0});
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
            at = end;
            break;
          }
        }
      };
      for (const Part& one : found) {
        if (!is_alike(one.place, first.place) || one.place.begin < at) continue;
        fill(one.place.begin);
        if (one.place.begin != at) break;
        parts.push_back(one);
        at += one.place.extent;
      }
      fill(block);
      if (at == block && parts.size() > 1) return parts;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<uint32_t> members_with(const Numbers& numbers) const {
    std::vector<uint32_t> items;
    for (const uint32_t of_class : parts_.free_classes()) {
      const uint32_t item = parts_.free_member(of_class, numbers);
      if (item != kNoItem && parts_.shape(item) != nullptr) items.push_back(item);
    }
    return items;
  }

  [[nodiscard]] std::optional<Joined> concatenated(uint32_t whole, const Numbers& numbers) {
    std::vector<uint32_t> items = members_with(numbers);
    std::erase_if(items, [&](uint32_t item) {
      return !may_be_part(item, whole) || joined_places(*whole_.shape(whole), *parts_.shape(item)).empty();
    });
    if (items.size() > kMostTried) {
      links_.limits.insert(kCandidatesLimit);
      return std::nullopt;
    }
    Parts found;
    std::vector<uint32_t> blind;
    for (const uint32_t item : items) {
      if (is_constant(parts_.values(item))) {
        blind.push_back(item);
      } else if (auto part = find_part(whole, item, items)) {
        found.push_back(*part);
      }
    }
    auto parts = tiled(whole, std::move(found), blind);
    return parts ? std::optional(Joined{std::move(*parts)}) : std::nullopt;
  }

  // Finds members that have one number more than the joined parameter, in the order of that number.
  [[nodiscard]] std::optional<Joined> stacked(uint32_t whole, const Numbers& numbers) {
    const Shape& shape = *whole_.shape(whole);
    const Shape plain = without_ones(shape);
    for (const uint32_t of_class : parts_.free_classes()) {
      for (size_t extra = 0; extra <= numbers.size(); ++extra) {
        std::map<int64_t, uint32_t> members;
        for (const auto& [own, item] : parts_.classes()[of_class].members) {
          if (!parts_.is_free(item) || own.size() != numbers.size() + 1 || parts_.shape(item) == nullptr) continue;
          if (!may_be_part(item, whole)) continue;
          Numbers rest = own;
          rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(extra));
          if (rest == numbers) members.emplace(own[extra], item);
        }
        if (members.size() < 2) continue;
        for (const JoinedPart& place : joined_places(shape, *parts_.shape(members.begin()->second))) {
          if (place.extent * static_cast<int64_t>(members.size()) != plain[place.axis]) continue;
          Parts parts;
          bool fits = true;
          for (const auto& [number, item] : members) {
            fits = fits && *parts_.shape(item) == *parts_.shape(members.begin()->second);
            parts.push_back({item, place, 0});
            parts.back().place.begin = static_cast<int64_t>(parts.size() - 1) * place.extent;
          }
          for (const size_t i : {size_t{0}, parts.size() / 2, parts.size() - 1}) {
            fits = fits && likeness_at(whole, parts[i].item, parts[i].place) > 0;
          }
          if (fits) return Joined{std::move(parts), extra};
        }
      }
    }
    return std::nullopt;
  }

  // Joins all members of the class of `example` as `found` says.
  void join(uint32_t of_class, uint32_t example, const Joined& found) {
    for (const uint32_t whole : free_members(of_class)) {
      if (*whole_.shape(whole) != *whole_.shape(example)) continue;
      Parts parts;
      for (const Part& one : found.parts) {
        Numbers numbers = whole_.parsed(whole).numbers;
        if (found.extra) {
          const auto at = static_cast<std::ptrdiff_t>(*found.extra);
          numbers.insert(numbers.begin() + at, parts_.parsed(one.item).numbers[*found.extra]);
        }
        const uint32_t item = parts_.free_member(parts_.class_of(one.item), numbers);
        if (item == kNoItem || parts_.shape(item) == nullptr || *parts_.shape(item) != *parts_.shape(one.item)) break;
        parts.push_back({item, one.place, 0});
      }
      if (parts.size() == found.parts.size()) link(whole, parts);
    }
  }

  void join_biases(uint32_t of_class, const Parts& found) {
    const ParameterParts whole = parts_of(whole_.classes()[of_class].pattern);
    for (const uint32_t other : whole_.free_classes()) {
      const ParameterParts own = parts_of(whole_.classes()[other].pattern);
      if (own.module != whole.module || own.leaf == whole.leaf) continue;
      for (const uint32_t item : free_members(other)) {
        const Shape plain = without_ones(*whole_.shape(item));
        if (plain.size() != 1) continue;
        Parts parts;
        int64_t at = 0;
        for (const Part& one : found) {
          const auto module = parts_of(parts_.parsed(one.item).pattern).module;
          const auto of_part = parts_.class_named(fmt::format("{}.{}", module, own.leaf));
          const uint32_t member = of_part ? parts_.free_member(*of_part, whole_.parsed(item).numbers) : kNoItem;
          if (member == kNoItem || parts_.shape(member) == nullptr) break;
          const int64_t count = *element_count(*parts_.shape(member)), groups = one.place.groups;
          if (count % groups != 0) break;
          parts.push_back({member, {0, groups, at, count / groups, false}, 0});
          at += count / groups;
        }
        const bool all = parts.size() == found.size() && at * found.front().place.groups == plain[0];
        if (all) link(item, parts);
      }
    }
  }

  void link(uint32_t whole, const Parts& parts) {
    const auto in_file = [&](const Part& part) { return may_be_part(part.item, whole); };
    if (!std::all_of(parts.begin(), parts.end(), in_file)) return;
    std::vector<std::string> names;
    for (const Part& one : parts) names.push_back(parts_.parsed(one.item).text);
    names = short_names(names);
    const size_t count = names.size();
    if (count > kFewTried) {
      names.erase(names.begin() + 2, names.end() - 1);
      names[1] = "..";
    }
    const JoinedPart& first = parts.front().place;
    const std::string how = fmt::format("concat({}; axis {}{}{})", fmt::join(names, ", "), first.axis,
                                        first.groups > 1 ? fmt::format(", {} groups", first.groups) : "",
                                        first.transposed ? ", transposed" : "");
    links_.tell("concatenated", fmt::format("{} = {}", whole_.pattern(whole), how));
    for (uint32_t i = 0; i < count; ++i) {
      ParameterLink link{sides_from(side_, whole, parts[i].item), PairedBy::kValues};
      link.part = i + 1;
      link.note = fmt::format("part {} of {}: {} = {}", i + 1, count, whole_.name(whole), how);
      link.views[side_] = joined_view(*whole_.shape(whole), parts[i].place, *parts_.shape(parts[i].item));
      links_.add(std::move(link));
    }
  }

  ParameterLinks& links_;
  const Side side_;
  ParameterSide &whole_, &parts_;
  size_t views_left_ = kMostJoinedViews;
};

// Ties parameters of one side with equal elements. They can be equal only if the sampled ones are.
Status tie_parameters(ParameterLinks& links, Side which, const CompareSide& dump, const CancelToken& cancel) {
  ParameterSide& side = links.of(which);
  std::set<Shape> shapes;
  std::vector<uint32_t> free;
  for (uint32_t item = 0; item < side.size(); ++item) {
    const Shape* const shape = side.is_free(item) ? side.shape(item) : nullptr;
    // Vectors are often equal without being tied.
    if (shape == nullptr || without_ones(*shape).size() < 2) continue;
    shapes.insert(*shape);
    free.push_back(item);
  }
  using Key = std::pair<Shape, uint64_t>;  // and a hash of the sample
  const auto key_of = [&](uint32_t item) {
    const std::vector<double>& values = side.values(item);
    return Key(*side.shape(item), text_hash({reinterpret_cast<const char*>(values.data()), 8 * values.size()}));
  };
  std::map<Key, std::vector<uint32_t>> paired;
  for (const ParameterLink& one : links.all()) {
    const uint32_t item = one.items[which];
    if (!one.is_pair() || side.shape(item) == nullptr || !shapes.contains(*side.shape(item))) continue;
    MSDUMP_CHECK_OK(cancel.check());
    paired[key_of(item)].push_back(item);
  }
  std::map<uint32_t, std::optional<uint64_t>> digests;  // no value for one that cannot be read
  const auto digest_of = [&](uint32_t item) -> Result<std::optional<uint64_t>> {
    const auto [known, is_new] = digests.try_emplace(item);
    if (!is_new) return known->second;
    auto tensor = HostTensor::open(*dump.index, side.record(item), {});
    const Result<uint64_t> digest =
        tensor ? content_digest(*tensor, cancel) : Result<uint64_t>(fail(std::move(tensor.error())));
    if (digest) known->second = mix_hash(*digest, static_cast<uint64_t>(tensor->dtype()));
    if (!digest && digest.error().code == ErrorCode::kCancelled) return fail(digest.error());
    if (!digest) side.samples().failures().add(digest.error());
    return known->second;
  };
  for (const uint32_t item : free) {
    MSDUMP_CHECK_OK(cancel.check());
    const auto same = paired.find(key_of(item));
    if (same == paired.end() || is_constant(side.values(item))) continue;
    for (const uint32_t other : same->second) {
      // Layers and experts that began as copies are not tied.
      if (side.class_of(other) == side.class_of(item)) continue;
      MSDUMP_TRY(const std::optional<uint64_t> own, digest_of(item));
      MSDUMP_TRY(const std::optional<uint64_t> there, digest_of(other));
      if (!own || own != there) continue;
      ParameterLink link{sides_from(which, item, kNoItem)};
      link.note = fmt::format("tied: the same values as {}, which has a partner", side.name(other));
      links.tell("tied", fmt::format("{} = {}", side.name(item), side.name(other)));
      links.add(std::move(link));
      break;
    }
  }
  return {};
}

// The record of a part or another view of a parameter.
RecordId add_view(const ParameterSide& side, uint32_t item, TensorView view, Side which, PairedParameters& result) {
  std::vector<TensorRecord>& tensors = result.tensors[which];
  TensorRecord record = tensors[side.tensor(item)];
  TensorView& kept = result.views.emplace_back(std::move(view));
  kept.pieces = record.pieces();
  record.view = &kept;
  record.shape = &kept.shape;
  const auto whole = static_cast<uint64_t>(*element_count(*side.shape(item)));
  if (record.bytes) record.bytes = static_cast<uint64_t>(kept.count()) * (*record.bytes / whole);
  tensors.push_back(record);
  return RecordId(tensors.size() - 1);
}

// The pairing of the links, and of the parameters without one.
PairedParameters pairing_of(ParameterLinks& links, const Sides<const CompareSide*>& dumps) {
  PairedParameters result;
  Pairing& pairing = result.pairing;
  std::vector<ParameterLink> all = std::move(links.all());
  for (const Side side : kBothSides) {
    result.tensors[side] = *dumps[side]->tensors;
    pairing.others[side] = links.of(side).others();
    pairing.compared_steps[side] = links.of(side).steps();
    for (uint32_t i = 0; i < links.of(side).size(); ++i) {
      if (links.of(side).is_free(i)) all.push_back({sides_from(side, i, kNoItem)});
    }
  }
  // Sorts by the reference; what only the candidate has comes last.
  std::sort(all.begin(), all.end(), [](const ParameterLink& x, const ParameterLink& y) {
    return std::tie(x.items.b, x.part, x.items.a) < std::tie(y.items.b, y.part, y.items.a);
  });
  for (ParameterLink& link : all) {
    const bool both = link.is_pair();
    TensorPair& tensors = pairing.tensors.emplace_back();
    tensors.op = OperatorId(pairing.operators.size());
    if (!both && !link.note.empty()) tensors.alone = Alone::kTied;
    OpPair& operators = pairing.operators.emplace_back();
    if (both) operators.how = link.how;
    if (both) operators.confidence = confidence(link.how);
    for (const Side side : kBothSides) {
      const ParameterSide& own = links.of(side);
      const uint32_t item = link.items[side];
      if (item == kNoItem) continue;
      std::optional<TensorView>& view = link.views[side];
      tensors[side] = view ? add_view(own, item, std::move(*view), side, result) : own.tensor(item);
      operators[side] = SequencedOpId(pairing.operators_of(side).size());
      SequencedOp& one = pairing.operators_of(side).emplace_back();
      one.rank = own.place(item).rank;
      one.graph = own.place(item).graph;
      one.name = own.shown_name(item);
      one.type = own.record(item).name.op_type;
      one.tensors = {tensors[side]};
    }
    pairing.notes.push_back(std::move(link.note));
  }
  pairing.of_parameters = true;
  pairing.relations = links.told();
  pairing.limits = links.limits;
  return result;
}

}  // namespace

Result<PairedParameters> pair_parameters(const CompareSide& a, const CompareSide& b, const NameMap* map,
                                         const Sides<const ParameterFiles*>& files, const CancelToken& cancel) {
  ParameterSide side_a(a, map, files.a), side_b(b, nullptr, files.b);
  ParameterLinks links(side_a, side_b);
  SameParameters same(links);
  if (map != nullptr) same.by_map(*map);
  same.by_name();
  if (map == nullptr) same.by_wrapper();
  same.by_values(false);
  same.by_module();
  MSDUMP_CHECK_OK(cancel.check());
  for (const Side side : kBothSides) JoinedParameters(links, side).run();
  same.by_values(true);
  same.by_module();
  MSDUMP_CHECK_OK(cancel.check());
  same.one_by_one();
  same.by_shape();
  same.turn_squares();
  const Sides<const CompareSide*> dumps = {&a, &b};
  for (const Side side : kBothSides) MSDUMP_CHECK_OK(tie_parameters(links, side, *dumps[side], cancel));
  PairedParameters result = pairing_of(links, dumps);
  for (const Side side : kBothSides) {
    for (Error& error : links.of(side).samples().failures().all()) result.pairing.unread.push_back(std::move(error));
    if (files[side] == nullptr) continue;
    result.pairing.steps_alone[side] = files[side]->steps_alone;
    result.pairing.files_alone[side] = files[side]->alone;
  }
  return result;
}

}  // namespace msdump
