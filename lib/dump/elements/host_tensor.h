// TensorPieces: a tensor that lies in several others, each of which has boxes of it: the shards of a parameter on the
// ranks of a tensor-parallel group, or the partial sums of a product. And the reader of its elements, which holds no
// more of them than are asked for.
//
//   1. a box is a range of each axis, in the piece and in the whole; together the boxes cover the whole
//   2. elements of boxes of several pieces that lie on each other are added up, or the largest of them is taken (NaN where
//      one is NaN): in float64, and they come as float32 (float64 where a piece has float64 or integers)
//   3. else they come in the dtype of the pieces, which is one
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
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

class DumpIndex;
class PieceTensors;
struct TensorRecord;

struct PieceBox {
  uint32_t piece = 0;                   // in TensorPieces::records
  std::vector<int64_t> from, to, size;  // by axis: where it begins in the piece and in the whole, and its extent
};

// What is done with the elements of boxes that lie on each other.
enum class PieceOverlap : uint8_t { kNone, kAdded, kLargest };
[[nodiscard]] inline double larger_or_nan(double x, double y) { return x > y || std::isnan(x) ? x : y; }

struct TensorPieces {
  Shape shape;                               // of the whole
  std::vector<const TensorRecord*> records;  // not empty; with shapes; they outlive this
  std::vector<PieceBox> boxes;               // none: the only record is the whole
  PieceOverlap overlap = PieceOverlap::kNone;
  double factor = 1;  // that every element is multiplied by

  [[nodiscard]] bool is_plain() const { return boxes.empty(); }
};

// The elements of the whole. Reads pieces; not for several threads at once.
class PiecesReader {
 public:
  // kShapeMismatch where a piece has not the elements that a box wants, kUnsupportedDtype where dtypes do not go together.
  static Result<PiecesReader> open(const DumpIndex& index, const TensorPieces& pieces);
  PiecesReader(PiecesReader&&) noexcept;
  PiecesReader& operator=(PiecesReader&&) noexcept;
  ~PiecesReader();

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] DType original_dtype() const { return original_dtype_; }
  // Elements [first, first + count) in C order.
  Status read(int64_t first, int64_t count, std::byte* into);
  [[nodiscard]] Status check_unchanged();

 private:
  PiecesReader() = default;
  // A box as runs of elements that follow each other in both: run i begins at start(i, ..) and has `run` elements.
  struct Runs {
    uint32_t piece = 0;
    int64_t run = 0, count = 0;
    std::vector<int64_t> extents, from_strides, to_strides;  // of the axes that are outside of a run
    int64_t from = 0, to = 0;
    [[nodiscard]] int64_t start(int64_t index, bool in_whole) const;
  };
  [[nodiscard]] static Runs runs_of(const PieceBox& box, const Shape& piece, const Shape& whole);
  Status read_runs(const Runs& runs, int64_t first, int64_t count, std::byte* into);
  void put(const std::byte* elements, int64_t count, int64_t at, std::byte* into);

  std::unique_ptr<PieceTensors> pieces_;
  std::vector<Runs> boxes_;
  DType dtype_ = DType::kUndefined, original_dtype_ = DType::kUndefined;
  DType stored_ = DType::kUndefined;  // of the pieces, and the bytes of an element of them
  size_t width_ = 0;
  bool computed_ = false;  // added, compared or multiplied
  bool largest_ = false;
  double factor_ = 1;
  std::vector<double> results_, terms_;
  std::vector<std::byte> covered_;
};

// HostTensor: the elements of one tensor in host order (C order of the host shape), read piece by piece from an array,
// raw bytes, or a dump file in device format. Memory is bounded whatever the size of the tensor and of its blocks:
// elements that change places are moved slab by slab.
//
// Elements have the dtype that the file stores, one byte each for those narrower than a byte; `original_dtype` is that of
// the framework's tensor where the file holds a wider copy.

struct HostOptions {
  // The host format that device formats become: NCHW, which for 5 dimensions means NCDHW. None: elements as stored.
  std::optional<Format> target = Format::kNCHW;
  // Convert an .npy in device format, too. It was written so on purpose (trans_flag false), so it is read as stored by
  // default.
  bool convert_arrays = false;
  // The host shape of a tensor whose file does not say it.
  std::optional<Shape> original_shape = {};
};

class HostTensor {
 public:
  // The tensor of a record with elements.
  static Result<HostTensor> open(const DumpIndex& index, const TensorRecord& tensor, const HostOptions& options);
  // One of the tensors of a file; errors name both.
  static Result<HostTensor> open(OpenedFile opened, size_t item, const HostOptions& options);
  // The same, described by the caller.
  static Result<HostTensor> make(File file, FileKind container, const StoredTensor& stored, const HostOptions& options);

  [[nodiscard]] DType dtype() const { return plan_.dtype; }
  [[nodiscard]] DType original_dtype() const { return original_dtype_.value_or(plan_.dtype); }
  [[nodiscard]] const Shape& shape() const { return plan_.shape; }
  [[nodiscard]] int64_t count() const { return plan_.dst_elements; }
  [[nodiscard]] size_t element_bytes() const { return elements_.element_bytes(); }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

  // Elements lie in the file as they are read: any piece costs the same, and pieces may be read from several threads.
  [[nodiscard]] bool direct() const { return plan_.identity; }

  // Bytes that this object holds between two reads.
  [[nodiscard]] int64_t memory() const { return direct() ? 0 : slab_elements_ * static_cast<int64_t>(element_bytes()); }

  // Elements [first, first + count) into `into`. A tensor that is not direct is fast only when it is read in ascending
  // order, and takes one thread at a time.
  Status read(int64_t first, int64_t count, std::byte* into);

  [[nodiscard]] Status check_unchanged() const;
  // Size of the file and time of its last write, when it was opened.
  [[nodiscard]] std::pair<uint64_t, int64_t> stamp() const { return {file_.size(), file_.mtime_ns()}; }

 private:
  explicit HostTensor(File file) : file_(std::move(file)) {}
  static Result<HostTensor> assemble(const DumpIndex& index, const TensorPieces& pieces);
  Status show(const TensorView& view);
  [[nodiscard]] int64_t choose_slab(int64_t bytes) const;
  Status load_slab(int64_t slab);

  File file_;
  StoredElements elements_;
  Plan plan_;
  std::optional<DType> original_dtype_;
  std::shared_ptr<PiecesReader> pieces_;  // of a tensor that lies in several others; null: it lies in `file_`
  // Of a tensor that is not direct.
  int64_t slab_elements_ = 0;
  int64_t loaded_ = -1;  // which slab is in `slab_`
  std::vector<std::byte> slab_;
};

struct HostPair {
  HostTensor left, right;
};
// Two tensors that are to be compared. If their shapes differ, an .npy in device format is converted, as long as the
// other's shape is one that its device shape can stand for.
Result<HostPair> open_pair(const DumpIndex& index_a, const TensorRecord& a, const DumpIndex& index_b,
                           const TensorRecord& b);

// PieceTensors: the tensors of many ranks, opened to be read in turn. They are kept open as far as the descriptors of the
// process allow (KeepOpen); the others are opened for each read. A file that is another one when it is opened again is an
// error.

class PieceTensors {
 public:
  // `index` lists the tensors, and outlives this.
  explicit PieceTensors(const DumpIndex& index) : index_(&index) {}

  // Opens the tensor of a record, which outlives this, as the next piece.
  Result<HostTensor*> add(const TensorRecord& record);
  // The pointer is valid until the next call.
  Result<HostTensor*> open(size_t piece);
  [[nodiscard]] size_t size() const { return pieces_.size(); }
  Status check_unchanged();

 private:
  struct Piece {
    const TensorRecord* record;
    std::pair<uint64_t, int64_t> stamp;
    std::optional<HostTensor> kept = {};
    std::optional<KeepOpen> permission = {};
  };

  const DumpIndex* index_;
  std::vector<Piece> pieces_;
  std::optional<HostTensor> last_;  // the one that was opened last, if it is not kept
  size_t last_piece_ = 0;
};

}  // namespace msdump
