#include "compare/tokens/pass_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/pair/pair_reader.h"
#include "compare/tokens/input_meaning.h"
#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump {

Result<std::vector<int64_t>> read_whole_numbers(const CompareSide& side, const TensorRecord& record,
                                                const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(*side.index, record, {}));
  if (!is_whole(tensor.dtype()) || tensor.count() > kMostTokens) {
    return fail(make_error(ErrorCode::kTooLarge, "{} of {} are no ids or positions of tokens", describe(tensor.shape()),
                           name_of(tensor.dtype()))
                    .with_path(tensor.path()));
  }
  std::vector<int64_t> numbers;
  std::vector<double> wide;
  MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](std::span<const std::byte> bytes, int64_t count) {
    wide.resize(static_cast<size_t>(count));
    kernels::widen_to(tensor.dtype(), DType::kFloat64, bytes.data(), count, reinterpret_cast<std::byte*>(wide.data()));
    // Ids and positions are below 2^53; others only have to stay different from them.
    for (const double value : wide) numbers.push_back(std::fabs(value) < 0x1p53 ? static_cast<int64_t>(value) : -1);
  }));
  return numbers;
}

namespace {

constexpr size_t kMeanings = static_cast<size_t>(Meaning::kUnknown);

// True if most numbers are one more than the number before: positions of tokens in the order of their sequences.
bool are_positions(const std::vector<int64_t>& numbers) {
  size_t up = 0;
  for (size_t i = 1; i < numbers.size(); ++i) up += static_cast<size_t>(numbers[i] == numbers[i - 1] + 1);
  return numbers.size() > 1 && 2 * up >= numbers.size() - 1 &&
         std::all_of(numbers.begin(), numbers.end(), [](int64_t one) { return one >= 0; });
}

class InputReader {
 public:
  InputReader(const CompareSide& side, RunPasses& passes, const CancelToken& cancel)
      : side_(side), passes_(passes), cancel_(cancel) {}

  Status run(std::optional<int64_t> rank) {
    std::array<const RunPasses::Parts*, kMeanings> best{};
    std::vector<const RunPasses::Parts*> unnamed;
    for (const SequencedOp& op : passes_.operators) {
      if (op.rank != rank) continue;
      for (const RecordId tensor : op.tensors) {
        const RunPasses::Parts& parts = passes_.tensors[tensor];
        const TensorRecord& one = record(parts.front().record);
        if (!can_be_input(one) || !one.has_elements) continue;
        const Meaning meaning = meaning_of(one.name);
        if (meaning == Meaning::kUnknown) {
          if (one.name.io == Io::kInput && has_rows(parts)) unnamed.push_back(&parts);
          continue;
        }
        const RunPasses::Parts*& known = best[static_cast<size_t>(meaning)];
        if (known == nullptr || parts.size() > known->size()) known = &parts;
      }
    }
    constexpr std::array<std::vector<int64_t> TokenInputs::*, kMeanings> kMembers = {nullptr,
                                                                                     &TokenInputs::positions,
                                                                                     &TokenInputs::cu_seqlens,
                                                                                     &TokenInputs::lengths,
                                                                                     &TokenInputs::requests,
                                                                                     &TokenInputs::slots,
                                                                                     &TokenInputs::mask};
    for (size_t meaning = 1; meaning < kMeanings; ++meaning) {
      if (best[meaning] != nullptr) MSDUMP_CHECK_OK(read(*best[meaning], kMembers[meaning]));
    }
    if (best[static_cast<size_t>(Meaning::kPositions)] == nullptr) MSDUMP_CHECK_OK(find_positions(unnamed));
    return {};
  }

 private:
  [[nodiscard]] const TensorRecord& record(RecordId id) const { return (*side_.tensors)[id]; }

  Status read(const RunPasses::Parts& parts, std::vector<int64_t> TokenInputs::*into) {
    int64_t left = 4 * kMostTokens;
    for (const RunPasses::Part& part : parts) {
      // A file that cannot be read is reported by the comparison; here it is as if it was not dumped.
      Result<std::vector<int64_t>> numbers = read_whole_numbers(side_, record(part.record), cancel_);
      MSDUMP_CHECK_OK(cancel_.check());
      if (!numbers) continue;
      left -= static_cast<int64_t>(numbers->size());
      if (left < 0) return {};
      passes_.inputs[part.pass].*into = std::move(*numbers);
    }
    return {};
  }

  // True if each of its tensors has as many elements as the pass has rows.
  [[nodiscard]] bool has_rows(const RunPasses::Parts& parts) const {
    return std::all_of(parts.begin(), parts.end(), [&](const RunPasses::Part& part) {
      const Shape* const shape = record(part.record).shape;
      return shape != nullptr && element_count(*shape) == static_cast<int64_t>(passes_.inputs[part.pass].ids.size());
    });
  }

  // Positions that no name tells: the first tensor in the order of operators whose values are like that.
  Status find_positions(const std::vector<const RunPasses::Parts*>& unnamed) {
    size_t tried = 0;
    for (const RunPasses::Parts* const parts : unnamed) {
      if (++tried > kMostTried) return {};
      const auto widest = std::max_element(parts->begin(), parts->end(), [&](const auto& x, const auto& y) {
        return element_count(*record(x.record).shape) < element_count(*record(y.record).shape);
      });
      const Result<std::vector<int64_t>> numbers = read_whole_numbers(side_, record(widest->record), cancel_);
      MSDUMP_CHECK_OK(cancel_.check());
      if (!numbers || *numbers == passes_.inputs[widest->pass].ids || !are_positions(*numbers)) continue;
      return read(*parts, &TokenInputs::positions);
    }
    return {};
  }

  const CompareSide& side_;
  RunPasses& passes_;
  const CancelToken& cancel_;
};

}  // namespace

Status read_inputs(const CompareSide& side, std::optional<int64_t> rank, RunPasses& passes, const CancelToken& cancel) {
  return InputReader(side, passes, cancel).run(rank);
}

}  // namespace msdump
