// FactStore: what one process found out about a unit of work (a tensor, a pair, a file), for another that judges the
// whole. A run that computes a share of the units keeps its facts here (part_file.h); the run that merges finds them
// here and reads no tensor. Work whose facts are not there is done as always, so a result never depends on which facts
// were kept, only the time it takes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "parts/fact_codec.h"

namespace msdump {

// What a fact says; the numbers are in files.
enum class FactKind : uint8_t {
  kStatistics = 1,    // of a tensor: file, item
  kComplexParts = 2,  // of a complex tensor: file, item
  kConverted = 3,     // what became of an input of convert: its number
  kPair = 4,          // a pair of diff: its number
  kWeightChange = 5,  // of a weight since the step before, within the tolerance: both tensors
  kWeightRatio = 6,   // the same with no tolerance
  kDeadRows = 7,      // of a weight: the tensor
  kInRange = 8,       // elements inside a range: rule, tensor
  kExchange = 9,      // of ranks: whether what came out is what went in; its number
  kRankPair = 10,     // the same tensor on two ranks, side by side: both tensors
};
inline constexpr FactKind kLastFactKind = FactKind::kRankPair;

// Numbers are those of the catalogue, which is the same wherever it is made.
struct FactKey {
  FactKind kind = FactKind::kStatistics;
  uint32_t first = 0, second = 0;
  auto operator<=>(const FactKey&) const = default;
};

class FactStore {
 public:
  virtual ~FactStore() = default;
  // Thread-safe. The text is valid as long as the store.
  [[nodiscard]] virtual std::optional<std::string_view> find(const FactKey& key) const = 0;
  virtual void keep(const FactKey& key, std::string bytes) = 0;
};

// The result of `work`, from the store where it has it, else kept there. Interrupted work has no result to keep.
template <class T, class Work>
[[nodiscard]] Result<T> recorded(FactStore* store, const FactKey& key, const Work& work) {
  if (store == nullptr) return work();
  if (const auto known = store->find(key)) return decode_result<T>(*known);
  Result<T> result = work();
  if (result || result.error().code != ErrorCode::kCancelled) store->keep(key, encode_result(result));
  return result;
}

}  // namespace msdump
