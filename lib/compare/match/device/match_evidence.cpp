#include "compare/match/device/match_evidence.h"

#include <algorithm>
#include <cmath>

#include "compare/pair/pair_reader.h"
#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype.h"

namespace msdump {

std::optional<int64_t> host_elements(const TensorRecord& tensor) {
  if (tensor.shape == nullptr) return std::nullopt;
  if (tensor.name.format && info(*tensor.name.format).support != Support::kHost) return std::nullopt;
  return element_count(*tensor.shape);
}

bool same_elements(const TensorRecord& one, const TensorRecord& other) {
  const auto a = host_elements(one), b = host_elements(other);
  return !a || !b || *a == *b;
}

bool may_be_attribute(const TensorRecord& tensor) {
  if (tensor.shape == nullptr) return false;
  const auto count = element_count(*tensor.shape);
  if (!count) return false;
  const DTypeKind kind = kind_of(tensor.name.dtype);
  constexpr int64_t kLongestList = 64;  // axes, shapes, sizes
  if (kind == DTypeKind::kInteger || kind == DTypeKind::kBool)
    return tensor.shape->size() <= 1 && *count <= kLongestList;
  return *count <= 1;
}

OpTensors::OpTensors(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators)
    : inputs_(operators.size(), kNoId),
      outputs_(operators.size(), kNoId),
      input_count_(operators.size(), 0),
      output_count_(operators.size(), 0),
      tensor_inputs_(operators.size(), 0) {
  const auto elements = [&](RecordId tensor) {
    const Shape* const shape = (*dump.tensors)[tensor].shape;  // padded or not, the largest stays the largest
    return shape == nullptr ? -1 : element_count(*shape).value_or(-1);
  };
  const auto place_of = [&](RecordId tensor) {
    const TensorRecord& record = (*dump.tensors)[tensor];
    return std::pair(dump.index->files()[record.file].folder, record.occurrence);
  };
  for (SequencedOpId op{0}; op < operators.size(); ++op) {
    const std::vector<RecordId>& tensors = operators[op].tensors;
    for (const RecordId tensor : tensors) {
      if (place_of(tensor) != place_of(tensors.front())) continue;
      const TensorRecord& record = (*dump.tensors)[tensor];
      const bool input = record.name.io == Io::kInput;
      if (!input && record.name.io != Io::kOutput && record.name.io != Io::kParameter) continue;
      RecordId& largest = (input ? inputs_ : outputs_)[op];
      if (largest == kNoId || elements(tensor) > elements(largest)) largest = tensor;
      ++(input ? input_count_ : output_count_)[op];
      if (input && !may_be_attribute(record)) ++tensor_inputs_[op];
    }
  }
}

namespace {

constexpr int64_t kPieces = 3, kPiece = 128;
constexpr size_t kMostSamples = size_t{1} << 14;  // some 50 MB
constexpr size_t kFew = 32;                       // values; a correlation of fewer says little
constexpr double kOfFew = 0.8;                    // weight of the correlation of so few
constexpr double kSame = 0.999999;

Result<std::vector<double>> read_sample(HostTensor& tensor) {
  std::vector<double> sample;
  if (kernels::common_dtype(tensor.dtype(), DType::kFloat64) != DType::kFloat64) return sample;
  MSDUMP_CHECK_OK(for_each_piece(tensor, {kPieces, kPiece}, [&](auto elements, int64_t count) {
    const size_t old = sample.size();
    sample.resize(old + static_cast<size_t>(count));
    kernels::widen_to(tensor.dtype(), DType::kFloat64, elements.data(), count,
                      reinterpret_cast<std::byte*>(sample.data() + old));
  }));
  return sample;
}

// The correlation, which a factor does not change. Constants have 1 - the relative L2 distance, few values the larger one.
std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double n = 0, sum_a = 0, sum_b = 0;
  const auto usable = [&](size_t i) { return std::isfinite(a[i]) && std::isfinite(b[i]); };
  for (size_t i = 0; i < a.size(); ++i) {
    if (!usable(i)) continue;
    ++n;
    sum_a += a[i];
    sum_b += b[i];
  }
  if (n == 0) return std::nullopt;
  double aa = 0, bb = 0, ab = 0, squares = 0, distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!usable(i)) continue;
    const double x = a[i] - sum_a / n, y = b[i] - sum_b / n;
    aa += x * x;
    bb += y * y;
    ab += x * y;
    squares += b[i] * b[i];
    distance += (a[i] - b[i]) * (a[i] - b[i]);
  }
  const double nearness = squares == 0 ? 0 : std::max(0.0, 1 - std::sqrt(distance / squares));
  // Zeros occur in many tensors and prove nothing.
  if (aa == 0 && bb == 0) return squares == 0 && sum_a == 0 ? std::nullopt : std::optional(nearness);
  if (aa == 0 || bb == 0) return std::nullopt;
  const double correlated = std::max(0.0, ab / std::sqrt(aa) / std::sqrt(bb));
  return n < kFew ? std::max(nearness, kOfFew * correlated) : correlated;
}

bool has_values(const TensorRecord& tensor) { return tensor.has_elements && !tensor.broken; }

}  // namespace

const ValueProbe::Sample& ValueProbe::sample_of(const DumpWithGraph& side, Samples& samples, RecordId tensor) {
  if (const auto found = samples.find(tensor); found != samples.end()) return found->second;
  if (samples.size() >= kMostSamples) samples.clear();
  Sample& sample = samples[tensor];
  const TensorRecord& record = (*side.tensors)[tensor];
  auto opened = HostTensor::open(*side.index, record, {});
  if (!opened) {
    failures_.add(opened.error());
    return sample;
  }
  sample.count = opened->count();
  auto read = read_sample(*opened);
  if (!read) failures_.add(read.error());
  if (read) sample.values = std::move(*read);
  return sample;
}

std::optional<double> ValueProbe::similarity(RecordId a, RecordId b) {
  if (!has_values((*a_.tensors)[a]) || !has_values((*b_.tensors)[b])) return std::nullopt;
  if (!same_elements((*a_.tensors)[a], (*b_.tensors)[b])) return std::nullopt;
  const Sample& x = sample_of(a_, samples_a_, a);
  if (x.values.empty()) return std::nullopt;
  const Sample& y = sample_of(b_, samples_b_, b);
  if (y.values.empty()) return std::nullopt;
  return x.count == y.count ? correlation(x.values, y.values) : 0;
}

bool ValueProbe::is_same(RecordId a, RecordId b) { return similarity(a, b).value_or(0) > kSame; }

}  // namespace msdump
