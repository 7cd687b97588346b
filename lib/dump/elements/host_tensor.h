// HostTensor: the elements of one tensor in C order of the host shape ("host order"). It reads arrays, raw bytes, and dump
// files in device format.
//
// Memory is bounded for tensors and blocks of any size: elements that change places are moved slab by slab. Elements have
// the dtype of the file, one byte each if they are narrower; `original_dtype` is that of the framework's tensor if the file
// holds a wider copy.
//
// TensorPieces: a global tensor that is assembled from local tensors. These are shards, as of a parameter on the ranks of a
// tensor-parallel group, or partial sums, as of a product.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/elements/stored_elements.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "dump/layouts/stored_tensor.h"
#include "format/plan.h"
#include "io/file.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

struct TensorPieces;
class PiecesReader;
class PieceTensors;

struct HostOptions {
  // The host format for tensors in device format; NCHW means NCDHW for 5 dimensions. None: elements as stored.
  std::optional<Format> target = Format::kNCHW;
  // True to convert also an .npy in device format, which was written so on purpose (trans_flag false).
  bool convert_arrays = false;
  // The host shape, for a tensor whose file lacks it.
  std::optional<Shape> original_shape = {};
};

class HostTensor {
 public:
  // Opens the tensor of a record with elements.
  static Result<HostTensor> open(const DumpIndex& index, const TensorRecord& tensor, const HostOptions& options);
  // Opens tensor number `item` of a file; errors name both.
  static Result<HostTensor> open(OpenedFile opened, size_t item, const HostOptions& options);
  // Opens the tensor that the caller describes.
  static Result<HostTensor> make(File file, FileKind container, const StoredTensor& stored, const HostOptions& options);

  [[nodiscard]] DType dtype() const { return plan_.dtype; }
  [[nodiscard]] DType original_dtype() const { return original_dtype_.value_or(plan_.dtype); }
  [[nodiscard]] const Shape& shape() const { return plan_.shape; }
  [[nodiscard]] int64_t count() const { return plan_.dst_elements; }
  [[nodiscard]] size_t element_bytes() const { return elements_.element_bytes(); }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

  // True if elements lie in the file as they are read: any range costs the same, and several threads may read.
  [[nodiscard]] bool direct() const { return plan_.identity && pieces_ == nullptr; }
  // True if single elements anywhere cost the same. Those of a global tensor are found in its parts.
  [[nodiscard]] bool is_in_order() const { return plan_.identity; }

  // Bytes that this object holds between two reads.
  [[nodiscard]] int64_t memory() const { return direct() ? 0 : slab_elements_ * static_cast<int64_t>(element_bytes()); }

  // Reads elements [first, first + count). A tensor that is not direct is fast only in ascending order, and takes one
  // thread at a time.
  Status read(int64_t first, int64_t count, std::byte* into);

  [[nodiscard]] Status check_unchanged() const;
  // Size of the file and time of its last write, when it was opened.
  [[nodiscard]] std::pair<uint64_t, int64_t> stamp() const { return {file_.size(), file_.mtime_ns()}; }

 private:
  explicit HostTensor(File file) : file_(std::move(file)) {}
  static Result<HostTensor> assemble(File first, PiecesReader reader, const Shape& shape);
  static Result<HostTensor> of_shards(File file, const StoredTensor& stored);
  Status show(const TensorView& view);
  [[nodiscard]] int64_t choose_slab(int64_t bytes) const;
  Status load_slab(int64_t slab);

  File file_;
  StoredElements elements_;
  Plan plan_;
  std::optional<DType> original_dtype_;
  std::shared_ptr<PiecesReader> pieces_;  // of a global tensor, which `elements_` reads; null: it lies in `file_`
  // Only of a tensor that is not direct.
  int64_t slab_elements_ = 0;
  int64_t loaded_ = -1;  // number of the slab in `slab_`
  std::vector<std::byte> slab_;
};

struct HostPair {
  HostTensor left, right;
};
// Opens two tensors for a comparison. If their shapes differ, an .npy in device format is converted, provided that its
// device shape fits the shape of the other.
Result<HostPair> open_pair(const DumpIndex& index_a, const TensorRecord& a, const DumpIndex& index_b,
                           const TensorRecord& b);

// A global tensor in boxes of local ones:
//
//   1. a box is a range of each axis, in the local and in the global tensor; together the boxes cover the global tensor
//   2. elements of overlapping boxes are added, or the largest is taken (NaN if one is NaN), in float64. They are read as
//      float32, or as float64 if a local tensor has float64 or integers
//   3. else elements have the one dtype of the local tensors
struct PieceBox {
  uint32_t piece = 0;                   // in TensorPieces::records
  std::vector<int64_t> from, to, size;  // by axis: its begin in the local and the global tensor, and its extent
};

// The operation on elements of overlapping boxes.
enum class PieceOverlap : uint8_t { kNone, kAdded, kLargest };
[[nodiscard]] inline double larger_or_nan(double x, double y) { return x > y || std::isnan(x) ? x : y; }

struct TensorPieces {
  Shape shape;                               // of the global tensor
  std::vector<const TensorRecord*> records;  // the local tensors: not empty, with shapes; they outlive this
  std::vector<PieceBox> boxes;               // none: the only record is the global tensor
  PieceOverlap overlap = PieceOverlap::kNone;
  double factor = 1;  // every element is multiplied by it
  // Makes the boxes when the tensor is opened, where there are too many to keep; else null.
  std::function<std::vector<PieceBox>()> make_boxes = {};
  bool of_one_rank = false;  // the local tensors are of one rank, which is that of the tensor

  [[nodiscard]] bool is_plain() const { return boxes.empty() && make_boxes == nullptr; }
};

// A local tensor that is opened to be read.
struct PieceSource {
  std::function<Result<HostTensor>()> open;
  Shape shape;
};

// PiecesReader: the elements of the global tensor. Holds no more of them than one read asks for. Not thread-safe.
class PiecesReader {
 public:
  // Returns kShapeMismatch if a local tensor lacks elements of its box, kUnsupportedDtype if dtypes cannot be combined.
  static Result<PiecesReader> open(const DumpIndex& index, const TensorPieces& pieces);
  // The local tensors are `sources`; the records of `pieces` count for nothing.
  static Result<PiecesReader> open(std::vector<PieceSource> sources, const TensorPieces& pieces);
  PiecesReader(PiecesReader&&) noexcept;
  PiecesReader& operator=(PiecesReader&&) noexcept;
  ~PiecesReader();

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] DType original_dtype() const { return original_dtype_; }
  // Reads elements [first, first + count) in C order.
  Status read(int64_t first, int64_t count, std::byte* into);
  [[nodiscard]] Status check_unchanged();

 private:
  PiecesReader() = default;
  // A box as runs of elements that follow each other in both tensors: run i begins at start(i, ..) and has `run` elements.
  struct Runs {
    uint32_t piece = 0;
    int64_t run = 0, count = 0;
    std::vector<int64_t> extents, from_strides, to_strides;  // of the axes outside of a run
    int64_t from = 0, to = 0;
    [[nodiscard]] int64_t start(int64_t index, bool in_whole) const;
  };
  [[nodiscard]] static Runs runs_of(const PieceBox& box, const Shape& piece, const Shape& whole);
  Status read_runs(const Runs& runs, int64_t first, int64_t count, std::byte* into);
  void put(const std::byte* elements, int64_t count, int64_t at, std::byte* into);

  std::unique_ptr<PieceTensors> pieces_;
  std::vector<Runs> boxes_;
  DType dtype_ = DType::kUndefined, original_dtype_ = DType::kUndefined;
  DType stored_ = DType::kUndefined;  // of the local tensors
  size_t width_ = 0;                  // bytes of an element of these
  bool computed_ = false;             // added, compared or multiplied
  bool largest_ = false;
  double factor_ = 1;
  std::vector<double> results_, terms_;
  std::vector<std::byte> covered_;
};

// PieceTensors: the tensors of many ranks, opened to be read in turn. They are kept open as far as the descriptors of the
// process allow (KeepOpen); the others are opened for each read. A file that was replaced in between is an error.
class PieceTensors {
 public:
  PieceTensors() = default;
  // `index` lists the tensors, and outlives this.
  explicit PieceTensors(const DumpIndex& index) : index_(&index) {}

  // Opens the tensor of a record, which outlives this, as the next one.
  Result<HostTensor*> add(const TensorRecord& record);
  Result<HostTensor*> add(std::function<Result<HostTensor>()> open_piece);
  // The pointer is valid until the next call.
  Result<HostTensor*> open(size_t piece);
  [[nodiscard]] size_t size() const { return pieces_.size(); }
  Status check_unchanged();

 private:
  struct Piece {
    std::function<Result<HostTensor>()> open;
    std::pair<uint64_t, int64_t> stamp;
    std::optional<HostTensor> kept = {};
    std::optional<KeepOpen> permission = {};
  };

  const DumpIndex* index_ = nullptr;
  std::vector<Piece> pieces_;
  std::optional<HostTensor> last_;  // opened last, if it is not kept
  size_t last_piece_ = 0;
};

}  // namespace msdump
