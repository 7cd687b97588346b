#include "recompute/tensor_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"
#include "recompute/judge.h"
#include "stats/tensor_scan.h"

namespace msdump::recompute {
namespace {

// The first half of a float32 buffer under a float16 header; the rest is unknown.
void read_half_written(const std::vector<std::byte>& stored, std::vector<double>& values) {
  const size_t known = values.size() / 2;
  for (size_t i = 0; i < known; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, stored.data() + i * sizeof bits, sizeof bits);
    values[i] = std::bit_cast<float>(bits);
  }
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(known), values.end(), std::nan(""));
}

using TakeNumbers = std::function<void(const TensorNumbers&)>;

// Elements of a file, as double.
class FileElements : public ElementSource {
 public:
  explicit FileElements(HostTensor host) : host_(std::move(host)) {}

  // Calls `take` with the statistics when all elements were read.
  void scan(const TensorRecord& record, const stats::ComputeOptions& options, TakeNumbers take) {
    scan_.emplace(host_, record, options);
    take_ = std::move(take);
  }

  Status read(int64_t first, int64_t count, double* into) override {
    if (first < 0 || count < 0 || first + count > host_.count())
      return fail(make_error(ErrorCode::kShapeMismatch, "{}: has only {} elements", host_.path(), host_.count()));
    while (count > 0) {
      MSDUMP_TRY(const std::span<const std::byte> stored, stored_elements(first, count));
      const int64_t some = std::min(count, static_cast<int64_t>(stored.size() / host_.element_bytes()));
      kernels::widen_to(host_.dtype(), DType::kFloat64, stored.data(), some, reinterpret_cast<std::byte*>(into));
      first += some;
      count -= some;
      into += some;
    }
    return {};
  }

 private:
  // The first of these elements, or all.
  Result<std::span<const std::byte>> stored_elements(int64_t first, int64_t count) {
    if (scan_) {
      MSDUMP_TRY(const std::span<const std::byte> scanned, scan_->elements(first));
      if (!scanned.empty()) {
        if (take_ && scan_->is_complete()) {
          if (const Result<TensorNumbers> numbers = scan_->finish()) take_(*numbers);
          take_ = nullptr;
        }
        return scanned;
      }
    }
    stored_.resize(static_cast<size_t>(count) * host_.element_bytes());
    MSDUMP_CHECK_OK(host_.read(first, count, stored_.data()));
    return stored_;
  }

  HostTensor host_;
  std::vector<std::byte> stored_;
  std::optional<stats::TensorScan> scan_;
  TakeNumbers take_;
};

// The format that blocks at the begin, in the middle and at the end have.
Maybe<void> sample_format(Array& array) {
  constexpr int64_t kSampled = 4096;
  const int64_t size = size_of(array.shape);
  Array sample{.dtype = array.dtype};
  std::vector<double> buffer;
  for (const int64_t first : {int64_t{0}, size / 2, size - kSampled}) {
    MSDUMP_TRY(const double* const elements,
               elements_of(array, std::max<int64_t>(0, first), std::min(size, kSampled), buffer));
    sample.values.insert(sample.values.end(), elements, elements + std::min(size, kSampled));
  }
  find_effective_format(sample);
  array.effective = sample.effective;
  array.undecided = sample.undecided;
  array.subnormal = sample.subnormal;
  return {};
}

// msprobe's `slice` and `request_id` save a view of a tensor with all of its storage. Else msprobe saves copies, which fill theirs.
bool is_slice(const DumpIndex& index, const TensorRecord& record) {
  const IndexedFile& file = index.files()[record.file];
  if (file.kind != FileKind::kPt || !index.folders()[file.folder].identity.tensor_data) return false;
  const auto opened = index.open_tensor(file, record.item);
  if (!opened) return false;
  const StoredTensor& stored = opened->tensors.front();
  return stored.bytes > 0 && !stored.problem && stored.zip == nullptr;
}

}  // namespace

Maybe<void> load_elements(Array& array) {
  if (!array.source) return {};
  array.values.resize(static_cast<size_t>(size_of(array.shape)));
  const auto source = std::exchange(array.source, nullptr);
  if (const Status read = source->read(0, array.size(), array.values.data()); !read)
    return unjudged(Reason::kUnreadable, read.error().message);
  find_effective_format(array);
  return {};
}

Maybe<Array> TensorReader::open(TensorId tensor, const Shape* shape) const {
  const TensorRecord& record = (*dump_.tensors)[tensor];
  if (!record.has_elements) return unjudged(Reason::kStatistics);
  if (record.broken) return unjudged(Reason::kUnreadable, record.name.op_name);
  if (is_slice(*dump_.index, record)) return unjudged(Reason::kSlice);
  Result<HostTensor> opened = HostTensor::open(*dump_.index, record, {});
  if (!opened) return unjudged(Reason::kUnreadable, opened.error().message);
  HostTensor& host = *opened;
  if (kernels::common_dtype(host.dtype(), DType::kFloat64) != DType::kFloat64)
    return unjudged(Reason::kFormat, name_of(host.dtype()));
  Array array{.shape = host.shape(), .dtype = host.original_dtype()};
  if (shape != nullptr && size_of(*shape) == host.count()) array.shape = *shape;
  if (half_written_[tensor] && host.dtype() == DType::kFloat16) {
    if (host.count() > most_elements_) return unjudged(Reason::kTooLarge);
    std::vector<std::byte> stored(static_cast<size_t>(host.count()) * host.element_bytes());
    if (const Status status = host.read(0, host.count(), stored.data()); !status)
      return unjudged(Reason::kUnreadable, status.error().message);
    array.values.resize(static_cast<size_t>(host.count()));
    read_half_written(stored, array.values);
    array.known = array.size() / 2;
    array.dtype = DType::kFloat32;
    find_effective_format(array);
    return array;
  }
  const int64_t count = host.count();
  const auto source = std::make_shared<FileElements>(std::move(host));
  if (statistics_ != nullptr && statistics_->wants(tensor))
    source->scan(record, statistics_->scan_options(),
                 [this, tensor](const TensorNumbers& numbers) { statistics_->take(tensor, numbers); });
  array.source = source;
  if (count > kBlockElements)
    MSDUMP_CHECK_OK(sample_format(array));
  else
    MSDUMP_CHECK_OK(load_elements(array));
  return array;
}

Maybe<Tensor> TensorReader::read(TensorId tensor, const Shape* shape) const {
  MSDUMP_TRY(Array array, open(tensor, shape));
  if (size_of(array.shape) > most_elements_) return unjudged(Reason::kTooLarge);
  MSDUMP_CHECK_OK(load_elements(array));
  return share(std::move(array));
}

}  // namespace msdump::recompute
