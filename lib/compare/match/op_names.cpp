#include "compare/match/op_names.h"

#include "compare/match/op_sequence.h"

namespace msdump {

uint64_t ComparedPlaces::hash_of(const SequencedOp& one, uint64_t hash) const {
  if (ranks) hash = mix_hash(hash, static_cast<uint64_t>(one.rank.value_or(-1)));
  return steps ? mix_hash(hash, static_cast<uint64_t>(one.step.value_or(-1))) : hash;
}

OpNames::OpNames(const std::vector<SequencedOp>& operators, const std::vector<bool>& left_out, ComparedPlaces places,
                 bool numbered)
    : operators_(operators), compared_(places), numbered_(numbered), places_(operators.size()) {
  named_.reserve(operators.size());
  for (uint32_t i = 0; i < operators.size(); ++i) {
    if (left_out[i]) continue;
    const uint32_t found = places_.find_or_add(hash_of(operators[i]), static_cast<uint32_t>(named_.size()),
                                               [&](uint32_t named) { return is_same(named, operators[i]); });
    if (found == named_.size()) {
      named_.push_back({i, false});
    } else {
      named_[found].several = several_ = true;
    }
  }
}

uint32_t OpNames::find(const SequencedOp& one) {
  const uint32_t found = places_.find(hash_of(one), [&](uint32_t named) { return is_same(named, one); });
  return found == HashSlots::kNone || named_[found].several ? kNoOperator : named_[found].place;
}

uint64_t OpNames::hash_of(const SequencedOp& one) {
  name_.assign(numbered_ ? std::string_view(one.name) : (plain_ = name_without_numbers(one.name)));
  return compared_.hash_of(one, mix_hash(name_hash(name_.full()), name_hash(one.type)));
}

bool OpNames::is_equal(const SequencedOp& a, const SequencedOp& b) const {
  if (a.type != b.type || compared_.of(a) != compared_.of(b)) return false;
  return numbered_ ? same_name(a.name, b.name) : same_name(name_without_numbers(a.name), name_without_numbers(b.name));
}

}  // namespace msdump
