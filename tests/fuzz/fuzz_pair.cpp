// Bytes become two tensors of one dtype; pair_block on every CPU target, in slabs, against pair_reference in one call:
// equal states, bit for bit. Each side has the exact size: a load beyond it is the sanitizer's. Then chunks cut
// anywhere are merged, which changes no count and no extreme; and no metric of finite pairs is NaN.
//
//   byte 0     dtype (mod those that can be paired)
//   byte 1     flags of the rule; how b is made of a
//   bytes 2,3  pairs (mod 4096)
//   byte 4     blocks of a slab (mod 4, plus 1); where the tensor is cut into two chunks / 256
//   the rest   the elements, over and over again, each time round with a bit changed
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fuzz_file.h"
#include "kernels/cpu.h"
#include "kernels/pair/pair.h"

namespace {

using namespace msdump;
using namespace msdump::kernels;
using fuzz::require;

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t next() { return at_ < size_ ? data_[at_++] : uint8_t{0}; }

  void begin_elements() { first_ = at_; }

  std::byte next_of_elements() {
    if (first_ >= size_) return std::byte{0};
    if (at_ >= size_) {
      at_ = first_;
      ++round_;
    }
    const unsigned flipped = round_ % 3 == 0 && round_ > 0 ? 1U << ((round_ + at_) & 7U) : 0;
    return static_cast<std::byte>(data_[at_++] ^ flipped);
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0, first_ = 0;
  unsigned round_ = 0;
};

struct Tensors {
  DType dtype = DType::kFloat32;
  int64_t bytes = 1, count = 0;
  std::unique_ptr<std::byte[]> a, b;

  void pair(int64_t from, int64_t to, const PairRule& rule, PairState& state) const {
    pair_block(dtype, a.get() + from * bytes, b.get() + from * bytes, to - from, rule, state);
  }
};

Tensors make_tensors(Input& input) {
  static const std::vector<DType> dtypes = [] {
    std::vector<DType> result;
    for (const DTypeInfo& entry : all_dtypes()) {
      if (can_pair(entry.dtype)) result.push_back(entry.dtype);
    }
    return result;
  }();
  Tensors tensors;
  tensors.dtype = dtypes[input.next() % dtypes.size()];
  tensors.bytes = info(tensors.dtype).bits < 8 ? 1 : info(tensors.dtype).bits / 8;
  (void)input.next();  // the flags
  const unsigned high = input.next();
  tensors.count = static_cast<int64_t>((high << 8 | input.next()) % 4096);
  return tensors;
}

void fill(Tensors& tensors, Input& input, unsigned likeness) {
  const auto size = static_cast<size_t>(tensors.count * tensors.bytes);
  const bool is_code = info(tensors.dtype).bits < 8;
  const auto mask = static_cast<std::byte>(is_code ? (1U << info(tensors.dtype).bits) - 1 : 0xFF);
  tensors.a = std::make_unique<std::byte[]>(size);
  tensors.b = std::make_unique<std::byte[]>(size);
  input.begin_elements();
  for (size_t i = 0; i < size; ++i) tensors.a[i] = input.next_of_elements() & mask;
  for (size_t i = 0; i < size; ++i) {
    const bool changes = likeness == 0 || (likeness == 1 && i % static_cast<size_t>(tensors.bytes) == 0);
    tensors.b[i] = changes ? input.next_of_elements() & mask : tensors.a[i];
  }
}

void check_metrics(const PairMetrics& m) {
  for (const auto& value : {m.max_abs, m.max_rel, m.max_scaled, m.mean_abs, m.mean_rel, m.rmse, m.l2_distance,
                            m.relative_l2, m.std_a, m.std_b, m.under_1e3, m.under_5e3, m.p50_abs, m.p99_abs}) {
    require(!value || *value >= 0, "a metric that measures a distance is not NaN and not negative");
  }
  require(!m.max_scaled || *m.max_scaled <= *m.max_rel * (1 + 1e-15), "a scale makes no error larger");
  require(!m.cosine || std::abs(*m.cosine) <= 1, "a cosine is one");
  require(!m.p99_abs || (*m.p50_abs <= *m.p99_abs && *m.p99_abs <= *m.max_abs), "quantiles are in order");
  require(!m.mean_a || (*m.mean_a >= *m.min_a * (*m.min_a < 0 ? 1.0000001 : 0.9999999) - 1e-300 &&
                        *m.mean_a <= *m.max_a * (*m.max_a > 0 ? 1.0000001 : 0.9999999) + 1e-300),
          "a mean is between the extremes");
  require(m.equal <= m.count && m.over_tolerance <= m.count && m.reference_zero <= m.count, "counts are of pairs");
}

void check_chunks(const Tensors& tensors, int64_t cut, const PairRule& rule, const PairState& whole) {
  PairState first, second;
  tensors.pair(0, cut, rule, first);
  tensors.pair(cut, tensors.count, rule, second);
  first.merge(second);
  require(first.elements == whole.elements && first.finite == whole.finite && first.equal == whole.equal &&
              first.under_5e3 == whole.under_5e3 && first.over_tolerance == whole.over_tolerance &&
              first.nan_mismatch == whole.nan_mismatch && first.inf_mismatch == whole.inf_mismatch,
          "chunks count what the whole counts");
  require(first.max_abs == whole.max_abs && first.worst == whole.worst && first.max_ulp == whole.max_ulp &&
              first.magnitudes == whole.magnitudes && first.a.max() == whole.a.max() && first.b.min() == whole.b.min(),
          "chunks have the extremes of the whole");
}

void check_divergence(const Tensors& tensors, const PairMetrics& m) {
  if (m.count == 0 || !can_kl(tensors.dtype)) return;
  KlState state;
  kl_block(tensors.dtype, tensors.a.get(), tensors.b.get(), tensors.count, {*m.max_a, *m.min_a, *m.max_b, *m.min_b},
           state);
  const auto divergence = finish(state);
  require(state.finite == m.count, "both passes have the same pairs");
  require(!divergence || *divergence > -1e-9, "a divergence is not negative");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Tensors tensors = make_tensors(input);
  const unsigned flags = size > 1 ? data[1] : 0;
  PairRule rule;
  rule.rtol = (flags & 1U) != 0 ? 1e-3 : 0;
  rule.atol = (flags & 2U) != 0 ? 1e-5 : 0;
  rule.ulp = (flags & 4U) == 0;
  rule.quantiles = (flags & 8U) == 0;
  rule.scale = (flags & 64U) != 0 ? 0.5 : 0;
  const unsigned cuts = input.next();
  fill(tensors, input, flags >> 4 & 3U);

  PairState expected;
  pair_reference(tensors.dtype, tensors.a.get(), tensors.b.get(), tensors.count, rule, expected);
  const PairMetrics metrics = finish(expected);
  check_metrics(metrics);
  const int64_t slab = static_cast<int64_t>(cuts % 4 + 1) * kPairBlock;
  for (const std::string& target : available_cpu_targets()) {
    require(choose_cpu_target(target).has_value(), "an available target can be chosen");
    PairState state;
    for (int64_t at = 0; at < tensors.count; at += slab) {
      tensors.pair(at, std::min(at + slab, tensors.count), rule, state);
    }
    require(state == expected, "every target has the definition's state");
  }
  require(choose_cpu_target("").has_value(), "the best target can be chosen");
  check_chunks(tensors, tensors.count * static_cast<int64_t>(cuts) / 256, rule, expected);
  check_divergence(tensors, metrics);
  return 0;
}
