#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/code_counts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/reduce/reduce.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Codes without their sign are positive, so the signed comparisons that every CPU has suffice.
template <class T>
int64_t count_whole_vectors(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts) {
  const hn::ScalableTag<T> d;
  const hn::Repartition<uint8_t, decltype(d)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d), magnitude_bits = hn::Set(d, hwy::LimitsMax<T>());
  const auto after_subnormal = hn::Set(d, static_cast<T>(rule.last_subnormal + 1));
  const auto edge = hn::Set(d, static_cast<T>(rule.edge));
  int64_t at = 0;
  uint64_t subnormal = 0, at_edge = 0, positive_edge = 0;
  for (; at + lanes <= count; at += lanes) {
    const auto* const from = reinterpret_cast<const uint8_t*>(src) + at * static_cast<int64_t>(sizeof(T));
    const auto code = hn::BitCast(d, hn::LoadU(bytes, from));
    const auto magnitude = hn::And(code, magnitude_bits);
    subnormal += hn::CountTrue(d, hn::And(hn::Gt(magnitude, zero), hn::Lt(magnitude, after_subnormal)));
    at_edge += hn::CountTrue(d, hn::Eq(magnitude, edge));
    positive_edge += hn::CountTrue(d, hn::Eq(code, edge));
  }
  counts.subnormal += subnormal;
  counts.positive_edge += positive_edge;
  counts.negative_edge += at_edge - positive_edge;
  return at;
}

}  // namespace

int64_t count_codes_vectors(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts) {
  switch (rule.bytes) {
    case 1: return count_whole_vectors<int8_t>(rule, src, count, counts);
    case 2: return count_whole_vectors<int16_t>(rule, src, count, counts);
    case 4: return count_whole_vectors<int32_t>(rule, src, count, counts);
    default: return count_whole_vectors<int64_t>(rule, src, count, counts);
  }
}

#else  // !MSDUMP_HAS_VECTORS: all is left to the reference

int64_t count_codes_vectors(const CodeRule& /*rule*/, const std::byte* /*src*/, int64_t /*count*/,
                            CodeCounts& /*counts*/) {
  return 0;
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {
namespace {

uint64_t code_at(const std::byte* from, uint32_t bytes) {
  uint64_t code = 0;
  std::memcpy(&code, from, bytes);  // little-endian hosts only
  return code;
}

}  // namespace

HWY_EXPORT(count_codes_vectors);

std::optional<CodeRule> code_rule(DType stored, DType original) {
  const auto limits = float_limits(stored);
  if (!limits) return std::nullopt;
  CodeRule rule{static_cast<uint32_t>(info(stored).bits) / 8, limits->last_subnormal, limits->largest_code};
  if (stored == DType::kFloat32 && original == DType::kBfloat16) rule.edge = float_limits(original)->largest_code << 16;
  return rule;
}

void count_codes(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts) {
  const int64_t done = portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(count_codes_vectors)(rule, src, count, counts);
  count_codes_reference(rule, src + done * static_cast<int64_t>(rule.bytes), count - done, counts);
}

void count_codes_reference(const CodeRule& rule, const std::byte* src, int64_t count, CodeCounts& counts) {
  const uint64_t sign = uint64_t{1} << (8 * rule.bytes - 1);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t code = code_at(src + i * static_cast<int64_t>(rule.bytes), rule.bytes);
    const uint64_t magnitude = code & (sign - 1);
    counts.subnormal += magnitude > 0 && magnitude <= rule.last_subnormal ? 1 : 0;
    counts.positive_edge += code == rule.edge ? 1 : 0;
    counts.negative_edge += code == (rule.edge | sign) ? 1 : 0;
  }
}

}  // namespace msdump::kernels
#endif
