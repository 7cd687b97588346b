#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "profiles/msaccucmp/float32_reader.h"
#include "profiles/msaccucmp/metrics.h"
#include "profiles/msaccucmp/text.h"
#include "profiles/numpy_sum.h"

namespace msdump {

using namespace msaccucmp;

namespace {

// For bool tensors. numpy computes their norms and their cosine in float64.
class BoolPasses {
 public:
  BoolPasses(const MsaccucmpPair& pair, const CancelToken& cancel) : pair_(pair), cancel_(cancel) {}

  Result<MsaccucmpMetrics> run() {
    MSDUMP_CHECK_OK(each([&](float a, float b) {
      true_a_ += a != 0 ? 1 : 0;
      true_b_ += b != 0 ? 1 : 0;
      return 0.0;
    }));
    NumpySum<double> cosine;
    const double norm_a = std::sqrt(static_cast<double>(true_a_)), norm_b = std::sqrt(static_cast<double>(true_b_));
    if (!pair_.scalar && true_a_ > 0 && true_b_ > 0) {
      MSDUMP_CHECK_OK(
          each([&](float a, float b) { return (static_cast<double>(a) / norm_a) * (static_cast<double>(b) / norm_b); },
               &cosine));
    }
    MsaccucmpMetrics metrics;
    for (size_t i = 0; i < kMsaccucmpAlgorithms.size(); ++i) set(metrics, i, cosine.total());
    return metrics;
  }

 private:
  template <class Term>
  Status each(Term&& term, NumpySum<double>* sum = nullptr) {
    std::array<double, kNumpyChunk> terms;
    return Float32Pair(pair_.a, pair_.b).for_each_chunk(cancel_, [&](const float* a, const float* b, int64_t count) {
      for (int64_t i = 0; i < count; ++i) terms[static_cast<size_t>(i)] = term(a[i], b[i]);
      if (sum != nullptr) sum->add(terms.data(), count);
    });
  }

  void set(MsaccucmpMetrics& metrics, size_t which, double cosine) const {
    std::string &value = metrics.values[which], reason;
    value = kMsaccucmpNaN;
    if (which == kCosine) {
      value = cosine_text(cosine, reason);
    } else if (which == kDistance && true_b_ == 0) {
      value = msaccucmp_number(0);
    } else if (which == kDistance) {
      reason =
          "Failed to execute 'compare' in 'RelativeEuclideanDistance'. numpy boolean subtract, the `-` operator, is "
          "not "
          "supported, use the bitwise_xor, the `^` operator, or the logical_xor function instead.";
    } else {
      reason = fmt::format("Algorithm {} does not support Boolean types.", kMsaccucmpAlgorithms[which]);
    }
    if (!reason.empty()) metrics.reasons.push_back(std::move(reason));
  }

  [[nodiscard]] std::string cosine_text(double cosine, std::string& reason) const {
    if (pair_.scalar) {
      reason = kScalarReason;
      return msaccucmp_number(1);
    }
    if (true_a_ == 0 && true_b_ == 0) return "1.0";
    if (true_a_ > 0 && true_b_ > 0) return msaccucmp_number(std::min(cosine, 1.0));
    reason = all_zero_in(true_a_ == 0 ? pair_.path_a : pair_.path_b);
    return std::string(kMsaccucmpNaN);
  }

  const MsaccucmpPair& pair_;
  const CancelToken& cancel_;
  int64_t true_a_ = 0, true_b_ = 0;
};

}  // namespace

Result<MsaccucmpMetrics> msaccucmp_bool_metrics(const MsaccucmpPair& pair, const CancelToken& cancel) {
  return BoolPasses(pair, cancel).run();
}

}  // namespace msdump
