// HostTensor: the elements of one tensor in host order (C order of the host shape), read piece by piece from an array,
// raw bytes, or a dump file in device format. Memory is bounded whatever the size of the tensor and of its blocks:
// elements that change places are moved slab by slab.
//
// Elements have the dtype that the file stores, one byte each for those narrower than a byte; `original_dtype` is that of
// the framework's tensor where the file holds a wider copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dump/elements/stored_elements.h"
#include "dump/elements/tensor_pieces.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "dump/layouts/stored_tensor.h"
#include "format/plan.h"
#include "io/file.h"

namespace msdump {

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

}  // namespace msdump
