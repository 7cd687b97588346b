#include "dump/elements/host_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "dump/elements/stored_elements.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

// Elements of a local tensor that are read at once, so that narrow runs do not cost a system call each.
constexpr int64_t kCovered = int64_t{1} << 18;

DType dtype_of_results(DType pieces) {
  if (kind_of(pieces) != DTypeKind::kFloat || pieces == DType::kFloat64) return DType::kFloat64;
  return DType::kFloat32;
}

int64_t elements_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

}  // namespace

PiecesReader::PiecesReader(PiecesReader&&) noexcept = default;
PiecesReader& PiecesReader::operator=(PiecesReader&&) noexcept = default;
PiecesReader::~PiecesReader() = default;

int64_t PiecesReader::Runs::start(int64_t index, bool in_whole) const {
  int64_t at = in_whole ? to : from;
  for (size_t axis = extents.size(); axis-- > 0;) {
    at += index % extents[axis] * (in_whole ? to_strides : from_strides)[axis];
    index /= extents[axis];
  }
  return at;
}

PiecesReader::Runs PiecesReader::runs_of(const PieceBox& box, const Shape& piece, const Shape& whole) {
  Runs runs;
  runs.piece = box.piece;
  runs.run = 1;
  runs.count = 1;
  bool whole_axes = true;  // the box has all elements of the axes from here to the innermost
  int64_t from_stride = 1, to_stride = 1;
  for (size_t axis = whole.size(); axis-- > 0;) {
    runs.from += box.from[axis] * from_stride;
    runs.to += box.to[axis] * to_stride;
    if (whole_axes) {
      runs.run *= box.size[axis];
    } else {
      runs.extents.insert(runs.extents.begin(), box.size[axis]);
      runs.from_strides.insert(runs.from_strides.begin(), from_stride);
      runs.to_strides.insert(runs.to_strides.begin(), to_stride);
      runs.count *= box.size[axis];
    }
    whole_axes = whole_axes && box.size[axis] == piece[axis] && box.size[axis] == whole[axis];
    from_stride *= piece[axis];
    to_stride *= whole[axis];
  }
  return runs;
}

Result<PiecesReader> PiecesReader::open(const DumpIndex& index, const TensorPieces& pieces) {
  std::vector<PieceSource> sources;
  for (const TensorRecord* const record : pieces.records)
    sources.push_back({[&index, record] { return HostTensor::open(index, *record, {}); }, *record->shape});
  return open(std::move(sources), pieces);
}

Result<PiecesReader> PiecesReader::open(std::vector<PieceSource> sources, const TensorPieces& pieces) {
  PiecesReader reader;
  reader.computed_ = pieces.overlap != PieceOverlap::kNone || pieces.factor != 1;
  reader.largest_ = pieces.overlap == PieceOverlap::kLargest;
  reader.factor_ = pieces.factor;
  reader.pieces_ = std::make_unique<PieceTensors>();
  std::string first_path;
  for (PieceSource& source : sources) {
    MSDUMP_TRY(const HostTensor* const opened, reader.pieces_->add(std::move(source.open)));
    const HostTensor& piece = *opened;
    if (piece.count() != elements_of(source.shape)) {
      return fail(
          make_error(ErrorCode::kShapeMismatch, "{} instead of {}", describe(piece.shape()), describe(source.shape))
              .with_path(piece.path()));
    }
    const bool adds = kernels::common_dtype(piece.dtype(), DType::kFloat64) == DType::kFloat64;
    if (reader.computed_ && !adds) {
      return fail(
          make_error(ErrorCode::kUnsupportedDtype, "{} is not added up or compared over ranks", name_of(piece.dtype()))
              .with_path(piece.path()));
    }
    if (reader.pieces_->size() == 1) {
      first_path = piece.path();
      reader.stored_ = piece.dtype();
      reader.original_dtype_ = piece.original_dtype();
      reader.width_ = piece.element_bytes();
    } else if (piece.dtype() != reader.stored_) {
      return fail(make_error(ErrorCode::kUnsupportedDtype, "{} does not go together with the other ranks' {}",
                             name_of(piece.dtype()), name_of(reader.stored_))
                      .with_path(piece.path()));
    }
  }
  const auto inside = [](int64_t begin, int64_t size, int64_t extent) {
    return begin >= 0 && size >= 0 && begin <= extent && size <= extent - begin;
  };
  const std::vector<PieceBox> made = pieces.make_boxes ? pieces.make_boxes() : std::vector<PieceBox>();
  for (const PieceBox& box : pieces.make_boxes ? made : pieces.boxes) {
    const size_t axes = pieces.shape.size();
    bool fits =
        box.piece < sources.size() && box.from.size() == axes && box.to.size() == axes && box.size.size() == axes;
    const Shape& own = sources[fits ? box.piece : 0].shape;
    fits = fits && own.size() == axes;
    for (size_t axis = 0; fits && axis < axes; ++axis) {
      fits =
          inside(box.from[axis], box.size[axis], own[axis]) && inside(box.to[axis], box.size[axis], pieces.shape[axis]);
    }
    if (!fits) {
      return fail(make_error(ErrorCode::kShapeMismatch, "a part of {} does not lie in {}", describe(own),
                             describe(pieces.shape))
                      .with_path(first_path));
    }
    reader.boxes_.push_back(runs_of(box, own, pieces.shape));
  }
  reader.dtype_ = reader.computed_ ? dtype_of_results(reader.stored_) : reader.stored_;
  return reader;
}

Status PiecesReader::check_unchanged() { return pieces_->check_unchanged(); }

// Moves elements of one local tensor to their place: a run, or a part of one.
void PiecesReader::put(const std::byte* elements, int64_t count, int64_t at, std::byte* into) {
  if (!computed_) {
    std::memcpy(into + static_cast<size_t>(at) * width_, elements, static_cast<size_t>(count) * width_);
    return;
  }
  terms_.resize(static_cast<size_t>(count));
  kernels::widen_to(stored_, DType::kFloat64, elements, count, reinterpret_cast<std::byte*>(terms_.data()));
  double* const results = results_.data() + at;
  if (largest_) {
    for (size_t i = 0; i < terms_.size(); ++i) results[i] = larger_or_nan(results[i], terms_[i]);
  } else {
    for (size_t i = 0; i < terms_.size(); ++i) results[i] += terms_[i];
  }
}

// Reads runs that lie near each other in the local tensor at once; their starts ascend in both tensors.
Status PiecesReader::read_runs(const Runs& runs, int64_t first, int64_t count, std::byte* into) {
  int64_t low = 0, high = runs.count;  // searches the first run that ends after `first`
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (runs.start(middle, true) + runs.run > first) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  struct Part {
    int64_t from, to, count;
  };
  std::vector<Part> parts;
  const auto read_parts = [&]() -> Status {
    if (parts.empty()) return {};
    const int64_t begin = parts.front().from, end = parts.back().from + parts.back().count;
    covered_.resize(static_cast<size_t>(end - begin) * width_);
    MSDUMP_TRY(HostTensor* const piece, pieces_->open(runs.piece));
    MSDUMP_CHECK_OK(piece->read(begin, end - begin, covered_.data()));
    for (const Part& part : parts)
      put(covered_.data() + static_cast<size_t>(part.from - begin) * width_, part.count, part.to, into);
    parts.clear();
    return {};
  };
  for (int64_t run = low; run < runs.count; ++run) {
    const int64_t start = runs.start(run, true);
    if (start >= first + count) break;
    const int64_t begin = std::max(start, first), end = std::min(start + runs.run, first + count);
    const Part part{runs.start(run, false) + begin - start, begin - first, end - begin};
    if (!parts.empty() && part.from + part.count - parts.front().from > kCovered) MSDUMP_CHECK_OK(read_parts());
    parts.push_back(part);
  }
  return read_parts();
}

Status PiecesReader::read(int64_t first, int64_t count, std::byte* into) {
  if (computed_) results_.assign(static_cast<size_t>(count), largest_ ? -HUGE_VAL : 0);
  for (const Runs& runs : boxes_) {
    if (runs.run > 0) MSDUMP_CHECK_OK(read_runs(runs, first, count, into));
  }
  if (!computed_) return {};
  for (double& result : results_) result *= factor_;
  if (dtype_ == DType::kFloat64) {
    std::memcpy(into, results_.data(), results_.size() * sizeof(double));
    return {};
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    const auto narrow = static_cast<float>(results_[i]);
    std::memcpy(into + i * sizeof(float), &narrow, sizeof(float));
  }
  return {};
}

namespace {

// Bytes of host elements that are held.
constexpr int64_t kSlabBytes = int64_t{4} << 20;
// Elements of a global tensor that are read without the slab around them.
constexpr int64_t kFewElements = 64;
// Bytes held of a view. In a transposed matrix, a slab of few columns reads each row again for every few elements.
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

Result<HostTensor> HostTensor::assemble(File first, PiecesReader reader, const Shape& shape) {
  HostTensor tensor(std::move(first));
  tensor.plan_.dtype = reader.dtype();
  tensor.plan_.shape = shape;
  tensor.plan_.dst_elements = element_count(shape).value_or(0);
  tensor.plan_.identity = true;
  tensor.original_dtype_ = reader.original_dtype();
  tensor.pieces_ = std::make_shared<PiecesReader>(std::move(reader));
  tensor.elements_ = StoredElements(tensor.pieces_);
  tensor.slab_elements_ =
      std::min(tensor.plan_.dst_elements, kSlabBytes / static_cast<int64_t>(tensor.element_bytes()));
  return tensor;
}

Status HostTensor::check_unchanged() const { return pieces_ ? pieces_->check_unchanged() : file_.check_unchanged(); }

Result<HostTensor> HostTensor::open(const DumpIndex& index, const TensorRecord& tensor, const HostOptions& options) {
  if (const TensorPieces* const pieces = tensor.pieces(); pieces != nullptr) {
    const auto whole_of = [&]() -> Result<HostTensor> {
      if (pieces->is_plain()) return open(index, *pieces->records.front(), options);
      MSDUMP_TRY(PiecesReader reader, PiecesReader::open(index, *pieces));
      MSDUMP_TRY(File first, File::open(index.path_of(index.files()[pieces->records.front()->file])));
      return assemble(std::move(first), std::move(reader), pieces->shape);
    };
    MSDUMP_TRY(HostTensor whole, whole_of());
    if (!tensor.view->axes.empty()) MSDUMP_CHECK_OK(whole.show(*tensor.view));
    return whole;
  }
  const IndexedFile& indexed = index.files()[tensor.file];
  if (!tensor.has_elements) {
    return fail(make_error(ErrorCode::kNotFound, "only statistics of this tensor were dumped")
                    .with_path(index.path_of(indexed)));
  }
  MSDUMP_TRY(OpenedFile opened, index.open_tensor(indexed, tensor.item));
  StoredTensor& stored = opened.tensors.front();
  if (!stored.request.shape && tensor.shape != nullptr) stored.request.shape = *tensor.shape;
  if (!stored.request.dtype && tensor.name.dtype != DType::kUndefined) stored.request.dtype = tensor.name.dtype;
  // A table may have the dtype that the file lacks: its float32 values were bfloat16.
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

// Limits the tensor to a view. A view whose elements follow each other is read directly.
Status HostTensor::show(const TensorView& view) {
  if (!is_in_order() || info(plan_.dtype).bits < 8 || view.last() >= plan_.dst_elements) {
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
  if (stored.shards != nullptr || stored.ranges) return of_shards(std::move(file), stored);
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

// A slab of complete blocks, if one fits, reads no block of the file twice.
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
  MSDUMP_CHECK_OK(is_in_order() ? elements_.read(file_, first, count, slab_.data())
                                : read_host_range({file_, elements_, plan_}, first, count, slab_.data()));
  loaded_ = slab;
  return {};
}

Status HostTensor::read(int64_t first, int64_t count, std::byte* into) {
  if (direct() || (is_in_order() && count <= kFewElements)) return elements_.read(file_, first, count, into);
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

Result<HostTensor*> PieceTensors::add(const TensorRecord& record) {
  return add([index = index_, &record] { return HostTensor::open(*index, record, {}); });
}

Result<HostTensor*> PieceTensors::add(std::function<Result<HostTensor>()> open_piece) {
  last_.reset();
  MSDUMP_TRY(HostTensor opened, open_piece());
  Piece& piece = pieces_.emplace_back(Piece{std::move(open_piece), opened.stamp()});
  piece.permission = KeepOpen::take();
  std::optional<HostTensor>& place = piece.permission ? piece.kept : last_;
  last_piece_ = pieces_.size() - 1;
  return &place.emplace(std::move(opened));
}

Result<HostTensor*> PieceTensors::open(size_t number) {
  Piece& piece = pieces_[number];
  if (piece.kept) return &*piece.kept;
  if (last_ && last_piece_ == number) return &*last_;
  last_.reset();
  MSDUMP_TRY(HostTensor opened, piece.open());
  if (opened.stamp() != piece.stamp) {
    return fail(make_error(ErrorCode::kChangedWhileReading, "was written to while being read ({} bytes before, {} now)",
                           piece.stamp.first, opened.stamp().first)
                    .with_path(opened.path()));
  }
  last_piece_ = number;
  return &last_.emplace(std::move(opened));
}

Status PieceTensors::check_unchanged() {
  for (size_t piece = 0; piece < pieces_.size(); ++piece) {
    MSDUMP_TRY(const HostTensor* const opened, open(piece));
    MSDUMP_CHECK_OK(opened->check_unchanged());
  }
  return {};
}

}  // namespace msdump
