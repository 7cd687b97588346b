#include "compare/statistics/computed_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/numbers.h"
#include "compare/pair/pair_reader.h"
#include "dump/elements/host_tensor.h"
#include "io/zip.h"
#include "kernels/widen/widen.h"
#include "stats/compute.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

bool is_json(StatisticOrigin origin) {
  return origin != StatisticOrigin::kCsv && origin != StatisticOrigin::kDeviceCsv;
}

uint64_t xor_of(std::span<const std::byte> bytes) {
  uint64_t result = 0;
  for (size_t at = 0; at + sizeof result <= bytes.size(); at += sizeof result)
    result ^= load<uint64_t>(bytes.data() + at);
  return result;
}

// Adds CRC-32 and xor. The xor is over words of eight bytes; how a tail counts is unknown, so a tensor with a tail has none.
// A slab has a whole number of words.
Status add_byte_checksums(HostTensor& tensor, const TensorNumbers& other, const RunContext& context,
                          TensorNumbers& into) {
  const bool widens = other.origin == StatisticOrigin::kMindSporeJson && tensor.dtype() == DType::kBfloat16;
  std::vector<std::byte> wide;
  uint32_t crc = 0;
  uint64_t words = 0;
  MSDUMP_CHECK_OK(for_each_slab(tensor, context.cancel, [&](std::span<const std::byte> slab, int64_t count) {
    if (widens) {
      wide.resize(static_cast<size_t>(count) * 4);
      kernels::widen(DType::kBfloat16, slab.data(), count, wide.data());
    }
    crc = crc32_of(widens ? std::span<const std::byte>(wide) : slab, crc);
    words ^= xor_of(slab);
  }));
  const bool widened = into.dtype == DType::kBfloat16 && (widens || tensor.dtype() == DType::kFloat32);
  into.checksums.push_back({ChecksumKind::kCrc32, widened, fmt::format("{:08x}", crc)});
  if (static_cast<size_t>(tensor.count()) * tensor.element_bytes() % sizeof words == 0)
    into.checksums.push_back({ChecksumKind::kXor, false, fmt::format("0x{:016x}", words)});
  return {};
}

struct Moduli {
  double max = -HUGE_VAL, min = HUGE_VAL, sum = 0, squares = 0;
  uint64_t nan = 0;

  template <class T>
  void take(std::span<const std::byte> elements) {
    for (size_t at = 0; at < elements.size(); at += 2 * sizeof(T)) {
      std::array<T, 2> parts{};
      std::memcpy(parts.data(), elements.data() + at, sizeof parts);
      const auto real = static_cast<double>(parts[0]), imaginary = static_cast<double>(parts[1]);
      const bool is_nan = std::isnan(real) || std::isnan(imaginary);  // hypotenuse(NaN, infinity) is infinite
      const double modulus = is_nan ? std::nan("") : hypotenuse(real, imaginary);
      if (is_nan) ++nan;
      max = std::max(max, modulus);
      min = std::min(min, modulus);
      sum += modulus;
      squares += modulus * modulus;
    }
  }
};

// Adds the statistics of the moduli of complex numbers, which have no order. Does nothing for other dtypes.
Status add_moduli(HostTensor& tensor, const RunContext& context, TensorNumbers& into) {
  if (tensor.dtype() != DType::kComplex64 && tensor.dtype() != DType::kComplex128) return {};
  Moduli moduli;
  MSDUMP_CHECK_OK(for_each_slab(tensor, context.cancel, [&](std::span<const std::byte> slab, int64_t /*count*/) {
    if (tensor.dtype() == DType::kComplex64) {
      moduli.take<float>(slab);
    } else {
      moduli.take<double>(slab);
    }
  }));
  if (tensor.count() == 0) return {};
  const auto count = static_cast<double>(tensor.count());
  const auto known = [&](double value) {
    return StatisticNumber{moduli.nan > 0 ? std::nan("") : value, 1e-12 * std::abs(value)};
  };
  into.numbers = {known(moduli.max), known(moduli.min), known(moduli.sum / count), known(std::sqrt(moduli.squares))};
  into.nan = moduli.nan;
  return {};
}

class Computation {
 public:
  Computation(const DumpIndex& index, const TensorRecord& tensor, const TensorNumbers& other, const RunContext& context)
      : index_(index), tensor_(tensor), other_(other), context_(context) {}

  // Computes exactly if the dialect is null.
  Result<TensorNumbers> run(const stats::Dialect* dialect) {
    MSDUMP_TRY(TensorNumbers values, compute(dialect));
    values.origin = other_.origin;
    values.dialects = other_.dialects;
    if (tensor_.name.dtype != DType::kUndefined) values.dtype = tensor_.name.dtype;
    if (values.nothing_finite || values.count == 0U) values.numbers = {};
    if (dialect != nullptr) {
      values.finite_only = dialect->rule == stats::Rule::kFiniteOnly;
      values.mean_of_first_chunk = other_.mean_of_first_chunk;
      for (Checksum& one : values.checksums) {
        one.widened = dialect->widened_bfloat16 && values.dtype == DType::kBfloat16;
      }
    }
    if (is_json(other_.origin)) MSDUMP_CHECK_OK(add_json_statistics(values));
    drop_empty_numbers(values);
    return values;
  }

 private:
  Result<TensorNumbers> compute(const stats::Dialect* dialect) {
    stats::ComputeOptions options;
    if (dialect != nullptr) options.dialect = dialect;
    options.exact = dialect == nullptr;
    options.wanted = {true,
                      true,
                      true,
                      true,
                      other_.find(ChecksumKind::kMd5) != nullptr,
                      other_.find(ChecksumKind::kSha1) != nullptr};
    const stats::ComputeItem item{&tensor_, sampled_elements(tensor_, other_)};
    Result<TensorNumbers> result = fail(ErrorCode::kCancelled, "interrupted");
    stats::compute(index_, {&item, 1}, options, {context_.pool, context_.cancel},
                   [&](size_t, Result<TensorNumbers>&& one) { result = std::move(one); });
    return result;
  }

  Status add_json_statistics(TensorNumbers& values) {
    const bool wants_checksum =
        other_.find(ChecksumKind::kCrc32) != nullptr || other_.find(ChecksumKind::kXor) != nullptr;
    if (!wants_checksum && kind_of(values.dtype) != DTypeKind::kComplex) return {};
    MSDUMP_TRY(HostTensor tensor, HostTensor::open(index_, tensor_, {}));
    if (wants_checksum) MSDUMP_CHECK_OK(add_byte_checksums(tensor, other_, context_, values));
    return add_moduli(tensor, context_, values);
  }

  const DumpIndex& index_;
  const TensorRecord& tensor_;
  const TensorNumbers& other_;
  const RunContext& context_;
};

}  // namespace

std::vector<const stats::Dialect*> dialects_of(const TensorNumbers& other) {
  if (other.dialects == nullptr) return {nullptr};
  std::vector<const stats::Dialect*> kept;
  const auto& candidates = other.dialects->candidates;
  for (size_t i = candidates.size(); i-- > 0;) {
    const stats::Dialect& one = *candidates[i];
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const stats::Dialect* before) {
      return before->rule == one.rule && before->nan_survives_merge == one.nan_survives_merge &&
             before->widened_bfloat16 == one.widened_bfloat16;
    });
    if (!known) kept.push_back(&one);
  }
  return kept;
}

std::optional<int64_t> sampled_elements(const TensorRecord& tensor, const TensorNumbers& other) {
  return is_json(other.origin) || !other.shape ? std::nullopt : stats::sampled_elements(tensor, *other.shape);
}

Result<TensorNumbers> computed_values(const DumpIndex& index, const TensorRecord& tensor, const TensorNumbers& other,
                                      const stats::Dialect* dialect, const RunContext& context) {
  return Computation(index, tensor, other, context).run(dialect);
}

}  // namespace msdump
