#include "compare/match/cut/layout/piece_statistics.h"

#include <algorithm>
#include <bit>

#include "base/hash_slots.h"
#include "compare/statistics/computed_statistics.h"

namespace msdump {

PieceStatistics::PieceStatistics(StatisticTables& tables, std::span<const TensorRecord* const> records,
                                 const RunContext& context, ReadFailures* failures)
    : records_(records.begin(), records.end()) {
  for (const TensorRecord* const record : records) {
    ok_ = ok_ && record != nullptr && record->shape != nullptr && !record->broken &&
          (record->has_elements || record->table != kNoTable);
    if (!ok_) return;
    StatisticValues exact;
    exact.origin = StatisticOrigin::kTorchJson;
    auto values = record->has_elements ? computed_values(tables.index(), *record, exact, nullptr, context)
                                       : tables.values_of(*record);
    if (!values && failures != nullptr) failures->add(values.error());
    ok_ = values && std::any_of(values->numbers.begin(), values->numbers.end(),
                                [](const auto& number) { return number.has_value(); });
    if (!ok_) return;
    shapes_.push_back(*record->shape);
    values_.push_back(std::move(*values));
  }
}

std::vector<uint64_t> PieceStatistics::digests() const {
  std::vector<uint64_t> digests;
  for (const StatisticValues& one : values_) {
    uint64_t digest = 1;
    for (const auto& number : one.numbers)
      digest = mix_hash(digest, number ? std::bit_cast<uint64_t>(number->value) : 1);
    for (const Checksum& checksum : one.checksums) digest = mix_hash(digest, text_hash(checksum.text));
    digests.push_back(digest);
  }
  return digests;
}

}  // namespace msdump
