#include "compare/match/parameters/parameter_pairing.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/hash_slots.h"
#include "compare/match/parameters/joined_parameters.h"
#include "compare/match/parameters/parameter_links.h"
#include "compare/match/parameters/same_parameters.h"
#include "compare/pair/pair_reader.h"

namespace msdump {
namespace {

// Are the elements of two tensors of one dump the same?
Result<bool> same_elements(const DumpIndex& index, const TensorRecord& one, const TensorRecord& other,
                           const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor left, HostTensor::open(index, one, {}));
  MSDUMP_TRY(HostTensor right, HostTensor::open(index, other, {}));
  if (left.dtype() != right.dtype()) return false;
  MSDUMP_TRY(PairReader reader, PairReader::open(left, right));
  for (;;) {
    MSDUMP_TRY(const std::optional<PairSlab> slab, reader.next(cancel));
    if (!slab) return true;
    const size_t bytes = static_cast<size_t>(slab->count) * left.element_bytes();
    if (std::memcmp(slab->stored_a, slab->stored_b, bytes) != 0) return false;
  }
}

class TiedParameters {
 public:
  TiedParameters(ParameterLinks& links, const CompareSide& dump, bool of_a, const CancelToken& cancel)
      : links_(links), dump_(dump), of_a_(of_a), side_(of_a ? links.a() : links.b()), cancel_(cancel) {}

  // Elements can be equal only if the values that are looked at are.
  Status run() {
    std::set<Shape> shapes;
    std::vector<uint32_t> free;
    for (uint32_t item = 0; item < side_.size(); ++item) {
      const Shape* const shape = side_.is_free(item) ? side_.shape(item) : nullptr;
      // Vectors are alike without being tied.
      if (shape == nullptr || without_ones(*shape).size() < 2) continue;
      shapes.insert(*shape);
      free.push_back(item);
    }
    std::map<Key, std::map<uint32_t, std::vector<uint32_t>>> paired;  // by class
    for (const ParameterLink& one : links_.all()) {
      const uint32_t item = of_a_ ? one.a : one.b;
      if (one.a == kNoItem || one.b == kNoItem || side_.shape(item) == nullptr || !shapes.contains(*side_.shape(item)))
        continue;
      MSDUMP_CHECK_OK(cancel_.check());
      paired[key_of(item)][side_.class_of(item)].push_back(item);
    }
    for (const uint32_t item : free) {
      MSDUMP_CHECK_OK(cancel_.check());
      const auto same = paired.find(key_of(item));
      const std::span<const double> values = side_.values(item);
      if (same != paired.end() && value_distance(values, values)) MSDUMP_CHECK_OK(tie(item, same->second));
    }
    return {};
  }

 private:
  using Key = std::pair<Shape, uint64_t>;
  [[nodiscard]] Key key_of(uint32_t item) {
    uint64_t digest = 1;
    for (const double value : side_.values(item)) digest = mix_hash(digest, std::bit_cast<uint64_t>(value));
    return {*side_.shape(item), digest};
  }

  Status tie(uint32_t item, const std::map<uint32_t, std::vector<uint32_t>>& paired) {
    for (const auto& [of_class, others] : paired) {
      // Layers and experts that began as copies are not tied.
      if (of_class == side_.class_of(item)) continue;
      for (const uint32_t other : others) {
        MSDUMP_TRY(const bool same, is_same(item, other));
        if (!same) continue;
        ParameterLink link;
        (of_a_ ? link.a : link.b) = item;
        link.note = fmt::format("tied: the same values as {}, which has a partner", side_.name(other));
        links_.tell("tied", fmt::format("{} = {}", side_.name(item), side_.name(other)), 1);
        links_.add(std::move(link));
        return {};
      }
    }
    return {};
  }

  Result<bool> is_same(uint32_t item, uint32_t other) {
    const auto same = same_elements(*dump_.index, side_.record(item), side_.record(other), cancel_);
    if (!same && same.error().code == ErrorCode::kCancelled) return fail(same.error());
    if (!same) side_.values().failures().add(same.error());
    return same.value_or(false);
  }

  ParameterLinks& links_;
  const CompareSide& dump_;
  const bool of_a_;
  ParameterSide& side_;
  const CancelToken& cancel_;
};

// The links as a pairing, with a record for each view.
class PairingOfLinks {
 public:
  PairingOfLinks(const CompareSide& a, const CompareSide& b, ParameterLinks& links) : a_(a), b_(b), links_(links) {
    result_.tensors_a = *a.tensors;
    result_.tensors_b = *b.tensors;
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
    // In the order of the reference; what only the candidate has comes last.
    std::sort(all.begin(), all.end(), [](const ParameterLink& x, const ParameterLink& y) {
      return std::tie(x.b, x.part, x.a) < std::tie(y.b, y.part, y.a);
    });
    for (ParameterLink& link : all) add(link);
    result_.pairing.of_parameters = true;
    result_.pairing.relations = links_.told();
    result_.pairing.limits = links_.limits;
    result_.pairing.others_a = links_.a().others();
    result_.pairing.others_b = links_.b().others();
    return std::move(result_);
  }

 private:
  void add(ParameterLink& link) {
    Pairing& pairing = result_.pairing;
    const auto op = static_cast<uint32_t>(pairing.operators.size());
    const bool both = link.a != kNoItem && link.b != kNoItem;
    TensorPair tensors{op, kNoTensor, kNoTensor, both || link.note.empty() ? Alone::kUnknown : Alone::kTied};
    OpPair operators{kNoOperator, kNoOperator, both ? link.how : PairedBy::kNothing, both ? confidence(link.how) : 0};
    if (link.a != kNoItem) {
      tensors.a = tensor_of(links_.a(), link.a, std::move(link.view_a), result_.tensors_a);
      operators.a = add_operator(a_, links_.a(), link.a, tensors.a, pairing.a);
    }
    if (link.b != kNoItem) {
      tensors.b = tensor_of(links_.b(), link.b, std::move(link.view_b), result_.tensors_b);
      operators.b = add_operator(b_, links_.b(), link.b, tensors.b, pairing.b);
    }
    pairing.operators.push_back(operators);
    pairing.tensors.push_back(tensors);
    pairing.notes.push_back(std::move(link.note));
  }

  uint32_t tensor_of(const ParameterSide& side, uint32_t item, std::optional<TensorView> view,
                     std::vector<TensorRecord>& tensors) {
    const uint32_t whole = side.tensor(item);
    if (!view) return whole;
    const TensorView& kept = result_.views.emplace_back(std::move(*view));
    TensorRecord record = tensors[whole];
    record.view = &kept;
    record.shape = &kept.shape;
    if (record.bytes) record.bytes = static_cast<uint64_t>(kept.count()) * (*record.bytes / whole_count(side, item));
    tensors.push_back(record);
    return static_cast<uint32_t>(tensors.size() - 1);
  }
  static uint64_t whole_count(const ParameterSide& side, uint32_t item) {
    return static_cast<uint64_t>(*element_count(*side.shape(item)));
  }

  static uint32_t add_operator(const CompareSide& dump, const ParameterSide& side, uint32_t item, uint32_t tensor,
                               std::vector<SequencedOp>& operators) {
    const TensorRecord& record = side.record(item);
    SequencedOp& one = operators.emplace_back();
    one.rank = side.rank(item);
    one.graph = dump.index->folders()[dump.index->files()[record.file].folder].identity.graph;
    one.name = record.name.op_name;
    one.type = record.name.op_type;
    one.tensors = {tensor};
    return static_cast<uint32_t>(operators.size() - 1);
  }

  const CompareSide &a_, &b_;
  ParameterLinks& links_;
  PairedParameters result_;
};

}  // namespace

Result<PairedParameters> pair_parameters(const CompareSide& a, const CompareSide& b, const NameMap* map,
                                         const CancelToken& cancel) {
  ParameterSide side_a(a, map), side_b(b, nullptr);
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
    for (Error& error : side->values().failures().all()) result.pairing.unread.push_back(std::move(error));
  }
  result.pairing.compared_steps_a = side_a.steps();
  result.pairing.compared_steps_b = side_b.steps();
  return result;
}

}  // namespace msdump
