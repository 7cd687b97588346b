#include "dump/elements/host_tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dump/elements/host_range.h"

namespace msdump {
namespace {

// Size of the host elements that are held.
constexpr int64_t kSlabBytes = int64_t{4} << 20;
// Of a view, which may be a transposed matrix: with few of its columns at a time, each row is read for every few elements.
constexpr int64_t kViewSlabBytes = int64_t{32} << 20;

bool is_device_array(const DumpIndex& index, const TensorRecord& tensor) {
  const bool device = tensor.name.format && info(*tensor.name.format).support == Support::kDevice;
  return device && index.files()[tensor.file].kind == FileKind::kNpy;
}

// Converts `tensor` if that gives it the shape of `other`.
void convert_like(const DumpIndex& index, const TensorRecord& record, const HostTensor& other, HostTensor& tensor) {
  if (!is_device_array(index, record) || tensor.shape() == other.shape()) return;
  auto converted = HostTensor::open(index, record, {Format::kNCHW, true, other.shape()});
  if (converted && converted->plan().policy == PlanPolicy::kConverted && converted->shape() == other.shape())
    tensor = std::move(*converted);
}

}  // namespace

Result<HostTensor> HostTensor::assemble(const DumpIndex& index, const TensorPieces& pieces) {
  MSDUMP_TRY(PiecesReader reader, PiecesReader::open(index, pieces));
  MSDUMP_TRY(File first, File::open(index.path_of(index.files()[pieces.records.front()->file])));
  HostTensor tensor(std::move(first));
  tensor.plan_.dtype = reader.dtype();
  tensor.plan_.shape = pieces.shape;
  tensor.plan_.dst_elements = element_count(pieces.shape).value_or(0);
  tensor.plan_.identity = false;
  tensor.elements_ = StoredElements(0, reader.dtype());
  tensor.original_dtype_ = reader.original_dtype();
  tensor.slab_elements_ =
      std::min(tensor.plan_.dst_elements, kSlabBytes / static_cast<int64_t>(tensor.element_bytes()));
  tensor.pieces_ = std::make_shared<PiecesReader>(std::move(reader));
  return tensor;
}

Status HostTensor::check_unchanged() const { return pieces_ ? pieces_->check_unchanged() : file_.check_unchanged(); }

Result<HostTensor> HostTensor::open(const DumpIndex& index, const TensorRecord& tensor, const HostOptions& options) {
  if (const TensorPieces* const pieces = tensor.pieces(); pieces != nullptr)
    return pieces->is_plain() ? open(index, *pieces->records.front(), options) : assemble(index, *pieces);
  const IndexedFile& indexed = index.files()[tensor.file];
  if (!tensor.has_elements) {
    return fail(make_error(ErrorCode::kNotFound, "only statistics of this tensor were dumped")
                    .with_path(index.path_of(indexed)));
  }
  MSDUMP_TRY(OpenedFile opened, index.open_tensor(indexed, tensor.item));
  StoredTensor& stored = opened.tensors.front();
  if (!stored.request.shape && tensor.shape != nullptr) stored.request.shape = *tensor.shape;
  if (!stored.request.dtype && tensor.name.dtype != DType::kUndefined) stored.request.dtype = tensor.name.dtype;
  // A table may say what the file cannot: its float32 values were bfloat16.
  const DType stored_dtype = stored.request.dtype.value_or(DType::kUndefined);
  const DType said = tensor.name.dtype;
  if (!stored.original_dtype && said != stored_dtype && said != DType::kUndefined &&
      info(said).npy_dtype == stored_dtype) {
    stored.original_dtype = said;
  }
  if (tensor.view == nullptr) return open(std::move(opened), 0, options);
  MSDUMP_TRY(HostTensor whole, open(std::move(opened), 0, options));
  MSDUMP_CHECK_OK(whole.show(*tensor.view));
  return whole;
}

// Where the elements of a view follow each other they are read as those of a tensor of their own.
Status HostTensor::show(const TensorView& view) {
  if (!direct() || info(plan_.dtype).bits < 8 || view.last() >= plan_.dst_elements) {
    return fail(make_error(ErrorCode::kShapeMismatch, "the tensor has not the elements of {}", describe(view.shape))
                    .with_path(path()));
  }
  plan_.shape = view.shape;
  plan_.dst_elements = view.count();
  if (view.is_run()) {
    elements_.skip(view.first);
    return {};
  }
  PlanPart part;
  part.src_base = view.first;
  int64_t stride = view.count();
  for (const TensorView::Axis& axis : view.axes) {
    stride /= axis.extent;
    part.axes.push_back(plain_axis(axis.extent, axis.stride, stride));
  }
  plan_.parts = {std::move(part)};
  plan_.identity = false;
  slab_elements_ = choose_slab(kViewSlabBytes);
  return {};
}

Result<HostTensor> HostTensor::open(OpenedFile opened, size_t item, const HostOptions& options) {
  StoredTensor& stored = opened.tensors[item];
  // Elements of an unknown shape are a vector.
  const DType element = stored.request.dtype.value_or(DType::kUndefined);
  if (opened.container == FileKind::kRaw && !stored.request.shape && info(element).bits >= 8) {
    stored.request.shape = Shape{static_cast<int64_t>(stored.bytes * 8 / static_cast<uint64_t>(info(element).bits))};
  }
  const std::string path = opened.file.path();
  auto made = make(std::move(opened.file), opened.container, stored, options);
  if (made) return made;
  Error error = std::move(made).error();
  if (error.path.empty()) error.path = path;
  if (error.tensor.empty()) error.tensor = stored.label();
  return fail(std::move(error));
}

Result<HostTensor> HostTensor::make(File file, FileKind container, const StoredTensor& stored,
                                    const HostOptions& options) {
  if (stored.problem) return fail(*stored.problem);
  HostTensor tensor(std::move(file));
  const bool as_it_lies = container == FileKind::kNpy && !options.convert_arrays;
  const auto target = as_it_lies ? std::nullopt : options.target;
  if (options.original_shape && !stored.request.original_shape) {
    StoredTensor shaped = stored;
    shaped.request.original_shape = options.original_shape;
    MSDUMP_TRY(tensor.plan_, plan_stored(shaped, target));
  } else {
    MSDUMP_TRY(tensor.plan_, plan_stored(stored, target));
  }
  tensor.elements_ = StoredElements(stored, tensor.plan_.dtype);
  tensor.original_dtype_ = stored.original_dtype;
  if (!tensor.direct()) tensor.slab_elements_ = tensor.choose_slab(kSlabBytes);
  return tensor;
}

Result<HostPair> open_pair(const DumpIndex& index_a, const TensorRecord& a, const DumpIndex& index_b,
                           const TensorRecord& b) {
  MSDUMP_TRY(HostTensor left, HostTensor::open(index_a, a, {}));
  MSDUMP_TRY(HostTensor right, HostTensor::open(index_b, b, {}));
  convert_like(index_a, a, right, left);
  convert_like(index_b, b, left, right);
  return HostPair{std::move(left), std::move(right)};
}

// A slab of whole blocks, if one fits, reads no block of the file twice.
int64_t HostTensor::choose_slab(int64_t bytes) const {
  const int64_t most = bytes / static_cast<int64_t>(element_bytes());
  if (plan_.dst_elements <= most || plan_.parts.size() != 1) return std::min(plan_.dst_elements, most);
  std::vector<PlanAxis> axes = plan_.parts.front().axes;
  std::stable_sort(axes.begin(), axes.end(),
                   [](const PlanAxis& a, const PlanAxis& b) { return a.dst_stride < b.dst_stride; });
  int64_t inner = 1;
  for (const PlanAxis& axis : axes) {
    if (inner * axis.extent <= most) {
      inner *= axis.extent;
      continue;
    }
    const int64_t indices = most / inner;
    return inner * (indices > axis.block ? indices / axis.block * axis.block : indices);
  }
  return most;
}

Status HostTensor::load_slab(int64_t slab) {
  if (loaded_ == slab) return {};
  loaded_ = -1;
  const int64_t first = slab * slab_elements_;
  const int64_t count = std::min(slab_elements_, plan_.dst_elements - first);
  slab_.resize(static_cast<size_t>(slab_elements_) * element_bytes());
  MSDUMP_CHECK_OK(pieces_ ? pieces_->read(first, count, slab_.data())
                          : read_host_range({file_, elements_, plan_}, first, count, slab_.data()));
  loaded_ = slab;
  return {};
}

Status HostTensor::read(int64_t first, int64_t count, std::byte* into) {
  if (direct()) return elements_.read(file_, first, count, into);
  const size_t width = element_bytes();
  while (count > 0) {
    const int64_t slab = first / slab_elements_, at = first % slab_elements_;
    MSDUMP_CHECK_OK(load_slab(slab));
    const int64_t take = std::min(count, slab_elements_ - at);
    std::memcpy(into, slab_.data() + static_cast<size_t>(at) * width, static_cast<size_t>(take) * width);
    into += static_cast<size_t>(take) * width;
    first += take;
    count -= take;
  }
  return {};
}

}  // namespace msdump
