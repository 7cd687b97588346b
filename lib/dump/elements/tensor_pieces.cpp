#include "dump/elements/tensor_pieces.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dump/elements/piece_tensors.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype_kind.h"

namespace msdump {
namespace {

// Elements of a piece that are read at once, so that narrow runs do not cost a system call each.
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
  bool whole_axes = true;  // from here to the innermost: all of both
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
  PiecesReader reader;
  reader.computed_ = pieces.overlap != PieceOverlap::kNone || pieces.factor != 1;
  reader.largest_ = pieces.overlap == PieceOverlap::kLargest;
  reader.factor_ = pieces.factor;
  reader.pieces_ = std::make_unique<PieceTensors>(index);
  std::string first_path;
  for (const TensorRecord* const record : pieces.records) {
    MSDUMP_TRY(const HostTensor* const opened, reader.pieces_->add(*record));
    const HostTensor& piece = *opened;
    if (piece.count() != elements_of(*record->shape)) {
      return fail(
          make_error(ErrorCode::kShapeMismatch, "{} instead of {}", describe(piece.shape()), describe(*record->shape))
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
  for (const PieceBox& box : pieces.boxes) {
    const size_t axes = pieces.shape.size();
    bool fits = box.piece < pieces.records.size() && box.from.size() == axes && box.to.size() == axes &&
                box.size.size() == axes;
    const Shape& own = *pieces.records[fits ? box.piece : 0]->shape;
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

// The elements of one piece to their place: a run, or a part of one.
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

// The starts of runs ascend in both. As many runs at a time as lie near each other in the piece.
Status PiecesReader::read_runs(const Runs& runs, int64_t first, int64_t count, std::byte* into) {
  int64_t low = 0, high = runs.count;  // the first run that ends after `first`
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

}  // namespace msdump
