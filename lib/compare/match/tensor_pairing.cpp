#include "compare/match/tensor_pairing.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "compare/match/op_sequence.h"
#include "ge/operators/operator_properties.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

bool is_commutative(std::string_view type) { return ge::has_property(type, ge::OperatorProperty::kCommutes); }

const std::vector<RecordId> kNone;

const std::vector<RecordId>& tensors_of(const std::vector<SequencedOp>& operators, SequencedOpId place) {
  return place == kNoId ? kNone : operators[place].tensors;
}

}  // namespace

bool TensorPairer::SlotKey::operator<(const SlotKey& other) const {
  if (step != other.step) return step < other.step;
  if (dump != other.dump) return dump < other.dump;
  if (occurrence != other.occurrence) return occurrence < other.occurrence;
  if (io != other.io) return io < other.io;
  if (slot != other.slot) return natural_less(slot, other.slot);
  return beside < other.beside;
}

TensorPairer::SlotKey TensorPairer::slot_key(Side side, RecordId tensor) const {
  const CompareSide& dump = side == Side::kCandidate ? a_ : b_;
  const TensorRecord& record = (*dump.tensors)[tensor];
  const bool placed = !rule_.lone_step || !pairing_.dumps.empty();
  const FolderIdentity place = placed ? msdump::place_of(*dump.index, record) : FolderIdentity();
  const std::optional<int64_t> step = rule_.lone_step ? std::nullopt : place.step;
  const bool parameter = record.name.io == Io::kParameter;
  return {step,
          pairing_.common_dump(side, place.dump),
          record.occurrence,
          record.name.io,
          parameter ? common_parameter_name(record.name.slot) : record.name.slot,
          0};
}

// The key of a tensor of a in the reference. The user's mapping may name another slot.
TensorPairer::SlotKey TensorPairer::key_of_a(const OpPair& pair, RecordId tensor) {
  SlotKey key = slot_key(Side::kCandidate, tensor);
  if (rule_.map == nullptr || pair.how != PairedBy::kUser) return key;
  const NameFacts& name = (*a_.tensors)[tensor].name;
  auto reference = rule_.map->reference_of(pairing_.a[pair.a].name, name.io, name.slot);
  if (!reference || normalised_op_name(reference->op_name) != normalised_op_name(pairing_.b[pair.b].name)) return key;
  key.io = reference->io;
  key.slot = names_.emplace_back(std::move(reference->slot));
  return key;
}

void TensorPairer::pair(OperatorId place) {
  const OpPair& both = pairing_.operators[place];
  const bool paired = both.is_paired();
  const bool careful =
      paired && (both.how == PairedBy::kUser || rule_.other_framework || is_commutative(pairing_.b[both.b].type));
  if (careful) {
    pair_with_care(place);
  } else {
    pair_in_order(place);
  }
}

// Fills `slots` with the tensors of an operator, by slot. Of several with the same key, the last one counts.
void TensorPairer::fill(Side side, const std::vector<RecordId>& tensors, std::vector<Keyed>& slots) const {
  slots.clear();
  for (const RecordId tensor : tensors) slots.push_back({slot_key(side, tensor), tensor});
  const auto less = [](const Keyed& x, const Keyed& y) { return x.key < y.key; };
  if (!std::is_sorted(slots.begin(), slots.end(), less)) std::stable_sort(slots.begin(), slots.end(), less);
  size_t kept = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (kept > 0 && !less(slots[kept - 1], slots[i])) --kept;
    slots[kept++] = slots[i];
  }
  slots.resize(kept);
}

// The usual case: merges two sorted lists.
void TensorPairer::pair_in_order(OperatorId place) {
  const OpPair& both = pairing_.operators[place];
  fill(Side::kCandidate, tensors_of(pairing_.a, both.a), slots_a_);
  fill(Side::kReference, tensors_of(pairing_.b, both.b), slots_b_);
  auto a = slots_a_.begin(), b = slots_b_.begin();
  while (a != slots_a_.end() || b != slots_b_.end()) {
    const bool has_a = a != slots_a_.end() && (b == slots_b_.end() || !(b->key < a->key));
    const bool has_b = b != slots_b_.end() && (a == slots_a_.end() || !(a->key < b->key));
    pairing_.tensors.push_back({{has_a ? a->tensor : kNoId, has_b ? b->tensor : kNoId}, place});
    if (has_a) ++a;
    if (has_b) ++b;
  }
}

void TensorPairer::pair_with_care(OperatorId place) {
  const OpPair both = pairing_.operators[place];
  Slots slots;
  for (const RecordId tensor : tensors_of(pairing_.a, both.a)) slots[key_of_a(both, tensor)].a = tensor;
  for (const RecordId tensor : tensors_of(pairing_.b, both.b)) slots[slot_key(Side::kReference, tensor)].b = tensor;
  if (is_commutative(pairing_.b[both.b].type)) swap_operands(slots);
  if (rule_.other_framework && both.how != PairedBy::kUser)
    pair_by_shapes(slots, pairing_.b[both.b].name.view().ends_with(".backward"));
  for (auto& [key, tensors] : slots) {
    tensors.op = place;
    pairing_.tensors.push_back(tensors);
  }
}

// Pairs the operands by shape, if that exchanges them: versions of MindSpore disagree on which one comes first.
void TensorPairer::swap_operands(Slots& slots) const {
  for (auto& [key, first] : slots) {
    if (key.io != Io::kInput || key.slot != "0") continue;
    SlotKey other = key;
    other.slot = "1";
    const auto found = slots.find(other);
    if (found == slots.end()) continue;
    TensorPair& second = found->second;
    const std::array all = {first.a, first.b, second.a, second.b};
    if (std::find(all.begin(), all.end(), kNoId) != all.end()) continue;
    if (!same_shape(first.a, first.b) && same_shape(first.a, second.b) && same_shape(second.a, first.b))
      std::swap(first.a, second.a);
  }
}

// Pairs each tensor with the first of its shape in its step, occurrence and io, because the frameworks' slots differ.
void TensorPairer::pair_by_shapes(Slots& slots, bool backward) const {
  std::set<Io> settled = {Io::kParameter};
  for (const Io io : {Io::kInput, Io::kOutput}) {
    if (in_one_form(slots, io)) settled.insert(io);
  }
  std::vector<Keyed> left_a, left_b;
  std::map<Place, std::map<Shape, ByShape>> by_shape;  // indices in left_b
  for (auto& [key, pair] : slots) {
    if (settled.count(key.io) > 0) continue;
    if (pair.a != kNoId) left_a.push_back({key, pair.a});
    if (pair.b != kNoId) {
      const Shape* const shape = (*b_.tensors)[pair.b].shape;
      if (shape != nullptr) by_shape[place_of(key)][*shape].items.push_back(left_b.size());
      left_b.push_back({key, pair.b});
    }
    pair.a = pair.b = kNoId;
  }
  for (Keyed& a : left_a) {
    const Shape* const shape = (*a_.tensors)[a.tensor].shape;
    if (shape == nullptr) continue;
    ByShape& same = by_shape[place_of(a.key)][*shape];
    // Gradients come in any order, so several of one shape stay unpaired.
    const size_t unpaired = same.items.size() - same.paired;
    if (unpaired == 0 || (backward && a.key.io == Io::kOutput && unpaired > 1)) continue;
    Keyed& b = left_b[same.items[same.paired++]];
    slots[b.key] = {{a.tensor, b.tensor}, {}};
    a.tensor = b.tensor = kNoId;
  }
  // A tensor without a partner keeps its slot, or shares it if the slot is taken.
  const auto place_alone = [&](const std::vector<Keyed>& left, Side side) {
    for (const Keyed& alone : left) {
      if (alone.tensor == kNoId) continue;
      SlotKey free = alone.key;
      while (slots[free].a != kNoId || slots[free].b != kNoId) ++free.beside;
      slots[free][side] = alone.tensor;
    }
  };
  place_alone(left_a, Side::kCandidate);
  place_alone(left_b, Side::kReference);
  std::erase_if(slots, [](const auto& slot) { return slot.second.a == kNoId && slot.second.b == kNoId; });
}

// True if both sides have the same slots of this io, with the same shapes.
bool TensorPairer::in_one_form(const Slots& slots, Io io) const {
  return std::all_of(slots.begin(), slots.end(), [&](const auto& slot) {
    const TensorPair& pair = slot.second;
    return slot.first.io != io || (pair.is_paired() && same_shape(pair.a, pair.b));
  });
}

bool TensorPairer::same_shape(RecordId a, RecordId b) const {
  const Shape *const left = (*a_.tensors)[a].shape, *const right = (*b_.tensors)[b].shape;
  return left != nullptr && right != nullptr && *left == *right;
}

}  // namespace msdump
