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

// JoinedParameters: finds parameters that are joined into one parameter of the other side: queries, keys and values; gate
// and up; the experts of a layer.
//
// Values show where each part lies in the joined parameter. It lies along one axis, as one run or in as many equal groups as
// the others, and may be transposed. Together the parts fill the joined parameter. A part whose values prove nothing takes
// what the others leave.
//
// The biases of the same modules are joined as their weights are.

constexpr size_t kMostJoinedViews = size_t{1} << 19;  // views that may be tried: some seconds

class JoinedParameters {
 public:
  // `whole_in_a`: the joined parameter is the candidate's, not the reference's.
  JoinedParameters(ParameterLinks& links, bool whole_in_a)
      : links_(links),
        whole_in_a_(whole_in_a),
        whole_(whole_in_a ? links.a() : links.b()),
        parts_(whole_in_a ? links.b() : links.a()) {}

  void run();

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

  [[nodiscard]] std::optional<Part> find_part(uint32_t whole, uint32_t item, const std::vector<uint32_t>& others);
  [[nodiscard]] double likeness_at(uint32_t whole, uint32_t item, const JoinedPart& place);
  [[nodiscard]] std::optional<Parts> tiled(uint32_t whole, Parts found, const std::vector<uint32_t>& blind) const;
  [[nodiscard]] std::optional<Joined> concatenated(uint32_t whole, const Numbers& numbers);
  [[nodiscard]] std::optional<Joined> stacked(uint32_t whole, const Numbers& numbers);
  [[nodiscard]] std::vector<uint32_t> members_with(const Numbers& numbers) const;
  [[nodiscard]] bool may_be_part(uint32_t item, uint32_t whole) const {
    return whole_in_a_ ? links_.may_link(whole, item) : links_.may_link(item, whole);
  }

  void join(uint32_t of_class, uint32_t example, const Joined& found);
  void join_biases(uint32_t of_class, const Parts& found);
  void link(uint32_t whole, const Parts& parts);
  [[nodiscard]] std::vector<uint32_t> free_members(uint32_t of_class) const;

  ParameterLinks& links_;
  const bool whole_in_a_;
  ParameterSide &whole_, &parts_;
  size_t views_left_ = kMostJoinedViews;
};

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

std::vector<uint32_t> JoinedParameters::free_members(uint32_t of_class) const {
  std::vector<uint32_t> free;
  for (const auto& [numbers, item] : whole_.classes()[of_class].members) {
    if (whole_.is_free(item) && whole_.shape(item) != nullptr) free.push_back(item);
  }
  return free;
}

void JoinedParameters::run() {
  const size_t most = whole_.free_classes().size() * parts_.size();
  if (most > kMostJoinedPairs) {
    links_.limits.insert(kTriedLimit);
    return;
  }
  for (const uint32_t of_class : whole_.free_classes()) {
    const std::vector<uint32_t> free = free_members(of_class);
    for (size_t i = 0; i < std::min(free.size(), kFewTried); ++i) {
      const uint32_t whole = free[i * (free.size() - 1) / std::max<size_t>(std::min(free.size(), kFewTried) - 1, 1)];
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

// 0 if the values there are others.
double JoinedParameters::likeness_at(uint32_t whole, uint32_t item, const JoinedPart& place) {
  if (views_left_ == 0) {
    links_.limits.insert(kJoinedViewsLimit);
    return 0;
  }
  --views_left_;
  const TensorView view = joined_view(*whole_.shape(whole), place, *parts_.shape(item));
  return likeness_of_view({whole_.samples(), whole_.tensor(whole)}, view, parts_.values(item));
}

// The nearest place of a part, over numbers of groups and positions in a group. A position is a sum of extents of other
// parts, so positions are multiples of the greatest common divisor of the extents.
std::optional<JoinedParameters::Part> JoinedParameters::find_part(uint32_t whole, uint32_t item,
                                                                  const std::vector<uint32_t>& others) {
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
std::optional<JoinedParameters::Parts> JoinedParameters::tiled(uint32_t whole, Parts found,
                                                               const std::vector<uint32_t>& blind) const {
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

std::vector<uint32_t> JoinedParameters::members_with(const Numbers& numbers) const {
  std::vector<uint32_t> items;
  for (const uint32_t of_class : parts_.free_classes()) {
    const uint32_t item = parts_.free_member(of_class, numbers);
    if (item != kNoItem && parts_.shape(item) != nullptr) items.push_back(item);
  }
  return items;
}

std::optional<JoinedParameters::Joined> JoinedParameters::concatenated(uint32_t whole, const Numbers& numbers) {
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
std::optional<JoinedParameters::Joined> JoinedParameters::stacked(uint32_t whole, const Numbers& numbers) {
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
void JoinedParameters::join(uint32_t of_class, uint32_t example, const Joined& found) {
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

void JoinedParameters::join_biases(uint32_t of_class, const Parts& found) {
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

void JoinedParameters::link(uint32_t whole, const Parts& parts) {
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
  links_.tell("concatenated", fmt::format("{} = {}", whole_.classes()[whole_.class_of(whole)].pattern, how), 1);
  for (uint32_t i = 0; i < count; ++i) {
    ParameterLink link;
    (whole_in_a_ ? link.a : link.b) = whole;
    (whole_in_a_ ? link.b : link.a) = parts[i].item;
    link.how = PairedBy::kValues;
    link.part = i + 1;
    link.note = fmt::format("part {} of {}: {} = {}", i + 1, count, whole_.name(whole), how);
    (whole_in_a_ ? link.view_a : link.view_b) =
        joined_view(*whole_.shape(whole), parts[i].place, *parts_.shape(parts[i].item));
    links_.add(std::move(link));
  }
}

class TiedParameters {
 public:
  TiedParameters(ParameterLinks& links, const CompareSide& dump, bool of_a, const CancelToken& cancel)
      : links_(links), dump_(dump), of_a_(of_a), side_(of_a ? links.a() : links.b()), cancel_(cancel) {}

  // Ties parameters with equal elements. They can be equal only if the sampled ones are.
  Status run() {
    std::set<Shape> shapes;
    std::vector<uint32_t> free;
    for (uint32_t item = 0; item < side_.size(); ++item) {
      const Shape* const shape = side_.is_free(item) ? side_.shape(item) : nullptr;
      // Vectors are often equal without being tied.
      if (shape == nullptr || without_ones(*shape).size() < 2) continue;
      shapes.insert(*shape);
      free.push_back(item);
    }
    using Key = std::pair<Shape, uint64_t>;  // and a hash of the sample
    const auto key_of = [&](uint32_t item) {
      const std::vector<double>& values = side_.values(item);
      return Key(*side_.shape(item), text_hash({reinterpret_cast<const char*>(values.data()), 8 * values.size()}));
    };
    std::map<Key, std::vector<uint32_t>> paired;
    for (const ParameterLink& one : links_.all()) {
      const uint32_t item = of_a_ ? one.a : one.b;
      if (one.a == kNoItem || one.b == kNoItem || side_.shape(item) == nullptr || !shapes.contains(*side_.shape(item)))
        continue;
      MSDUMP_CHECK_OK(cancel_.check());
      paired[key_of(item)].push_back(item);
    }
    for (const uint32_t item : free) {
      MSDUMP_CHECK_OK(cancel_.check());
      const auto same = paired.find(key_of(item));
      if (same != paired.end() && !is_constant(side_.values(item))) MSDUMP_CHECK_OK(tie(item, same->second));
    }
    return {};
  }

 private:
  Status tie(uint32_t item, const std::vector<uint32_t>& others) {
    for (const uint32_t other : others) {
      // Layers and experts that began as copies are not tied.
      if (side_.class_of(other) == side_.class_of(item)) continue;
      MSDUMP_TRY(const std::optional<uint64_t> own, digest_of(item));
      MSDUMP_TRY(const std::optional<uint64_t> there, digest_of(other));
      if (!own || own != there) continue;
      ParameterLink link;
      (of_a_ ? link.a : link.b) = item;
      link.note = fmt::format("tied: the same values as {}, which has a partner", side_.name(other));
      links_.tell("tied", fmt::format("{} = {}", side_.name(item), side_.name(other)), 1);
      links_.add(std::move(link));
      return {};
    }
    return {};
  }

  // No value for one that cannot be read.
  Result<std::optional<uint64_t>> digest_of(uint32_t item) {
    const auto [known, is_new] = digests_.try_emplace(item);
    if (!is_new) return known->second;
    auto tensor = HostTensor::open(*dump_.index, side_.record(item), {});
    const Result<uint64_t> digest =
        tensor ? content_digest(*tensor, cancel_) : Result<uint64_t>(fail(std::move(tensor.error())));
    if (digest) known->second = mix_hash(*digest, static_cast<uint64_t>(tensor->dtype()));
    if (!digest && digest.error().code == ErrorCode::kCancelled) return fail(digest.error());
    if (!digest) side_.samples().failures().add(digest.error());
    return known->second;
  }

  ParameterLinks& links_;
  const CompareSide& dump_;
  const bool of_a_;
  ParameterSide& side_;
  const CancelToken& cancel_;
  std::map<uint32_t, std::optional<uint64_t>> digests_;
};

// Makes the pairing of the links, with a record for each view.
class PairingOfLinks {
 public:
  PairingOfLinks(const CompareSide& a, const CompareSide& b, ParameterLinks& links) : a_(a), b_(b), links_(links) {
    result_.tensors.a = *a.tensors;
    result_.tensors.b = *b.tensors;
  }

  PairedParameters run() && {
    std::vector<ParameterLink> all = std::move(links_.all());
    const auto add_free = [&](const ParameterSide& side, uint32_t ParameterLink::*item) {
      for (uint32_t i = 0; i < side.size(); ++i) {
        if (!side.is_free(i)) continue;
        ParameterLink& alone = all.emplace_back();
        alone.*item = i;
      }
    };
    add_free(links_.a(), &ParameterLink::a);
    add_free(links_.b(), &ParameterLink::b);
    // Sorts by the reference; what only the candidate has comes last.
    std::sort(all.begin(), all.end(), [](const ParameterLink& x, const ParameterLink& y) {
      return std::tie(x.b, x.part, x.a) < std::tie(y.b, y.part, y.a);
    });
    for (ParameterLink& link : all) add(link);
    result_.pairing.of_parameters = true;
    result_.pairing.relations = links_.told();
    result_.pairing.limits = links_.limits;
    result_.pairing.others.a = links_.a().others();
    result_.pairing.others.b = links_.b().others();
    return std::move(result_);
  }

 private:
  void add(ParameterLink& link) {
    Pairing& pairing = result_.pairing;
    const OperatorId op(pairing.operators.size());
    const bool both = link.a != kNoItem && link.b != kNoItem;
    TensorPair tensors{{}, op, both || link.note.empty() ? Alone::kUnknown : Alone::kTied};
    OpPair operators{{}, both ? link.how : PairedBy::kNothing, both ? confidence(link.how) : 0};
    if (link.a != kNoItem) {
      tensors.a = tensor_of(links_.a(), link.a, std::move(link.view_a), result_.tensors.a);
      operators.a = add_operator(a_, links_.a(), link.a, tensors.a, pairing.a);
    }
    if (link.b != kNoItem) {
      tensors.b = tensor_of(links_.b(), link.b, std::move(link.view_b), result_.tensors.b);
      operators.b = add_operator(b_, links_.b(), link.b, tensors.b, pairing.b);
    }
    pairing.operators.push_back(operators);
    pairing.tensors.push_back(tensors);
    pairing.notes.push_back(std::move(link.note));
  }

  RecordId tensor_of(const ParameterSide& side, uint32_t item, std::optional<TensorView> view,
                     std::vector<TensorRecord>& tensors) {
    const RecordId whole = side.tensor(item);
    if (!view) return whole;
    TensorRecord record = tensors[whole];
    TensorView& kept = result_.views.emplace_back(std::move(*view));
    kept.pieces = record.pieces();
    record.view = &kept;
    record.shape = &kept.shape;
    if (record.bytes) record.bytes = static_cast<uint64_t>(kept.count()) * (*record.bytes / whole_count(side, item));
    tensors.push_back(record);
    return RecordId(tensors.size() - 1);
  }
  static uint64_t whole_count(const ParameterSide& side, uint32_t item) {
    return static_cast<uint64_t>(*element_count(*side.shape(item)));
  }

  static SequencedOpId add_operator(const CompareSide& dump, const ParameterSide& side, uint32_t item, RecordId tensor,
                                    std::vector<SequencedOp>& operators) {
    const TensorRecord& record = side.record(item);
    SequencedOp& one = operators.emplace_back();
    one.rank = side.rank(item);
    one.graph = dump.index->folders()[dump.index->files()[record.file].folder].identity.graph;
    one.name = side.shown_name(item);
    one.type = record.name.op_type;
    one.tensors = {tensor};
    return SequencedOpId(operators.size() - 1);
  }

  const CompareSide &a_, &b_;
  ParameterLinks& links_;
  PairedParameters result_;
};

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
  JoinedParameters(links, true).run();
  JoinedParameters(links, false).run();
  same.by_values(true);
  same.by_module();
  MSDUMP_CHECK_OK(cancel.check());
  same.one_by_one();
  same.by_shape();
  same.turn_squares();
  MSDUMP_CHECK_OK(TiedParameters(links, a, true, cancel).run());
  MSDUMP_CHECK_OK(TiedParameters(links, b, false, cancel).run());
  PairedParameters result = PairingOfLinks(a, b, links).run();
  for (ParameterSide* const side : {&side_a, &side_b}) {
    for (Error& error : side->samples().failures().all()) result.pairing.unread.push_back(std::move(error));
  }
  result.pairing.compared_steps.a = side_a.steps();
  result.pairing.compared_steps.b = side_b.steps();
  for (const Side side : kBothSides) {
    if (files[side] == nullptr) continue;
    result.pairing.steps_alone[side] = files[side]->steps_alone;
    result.pairing.files_alone[side] = files[side]->alone;
  }
  return result;
}

}  // namespace msdump
