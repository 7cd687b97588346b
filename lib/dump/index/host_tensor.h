// HostTensor: the elements of one tensor in host order (C order of the host shape), read piece by piece, whatever holds
// them: an array, raw bytes, or a dump file in device format. Memory is bounded: a tensor that needs moving is moved in
// slabs of a few MiB (only a FRACTAL_Z with groups is taken whole).
//
// Elements have the dtype that the file stores, one byte each for those narrower than a byte; `original_dtype` is that of
// the framework's tensor where the file holds a wider copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "dump/layouts/stored_tensor.h"
#include "format/plan.h"
#include "io/file.h"

namespace msdump {

struct HostOptions {
  // The host format that device formats become: 4-dimensional NCHW, which is NCDHW for 5. None: elements as they lie.
  std::optional<Format> target = Format::kNCHW;
  // An .npy in device format was written so on purpose (trans_flag false); false: it is read as it lies.
  bool convert_arrays = false;
};

class HostTensor {
 public:
  // The tensor of a record with elements.
  static Result<HostTensor> open(const DumpIndex& index, const TensorRecord& tensor, const HostOptions& options);
  // One of the tensors of a file; errors name both.
  static Result<HostTensor> open(OpenedFile opened, size_t item, const HostOptions& options);
  // The same, described by the caller.
  static Result<HostTensor> make(File file, ContainerKind container, const StoredTensor& stored,
                                 const HostOptions& options);

  [[nodiscard]] DType dtype() const { return plan_.dtype; }
  [[nodiscard]] DType original_dtype() const { return original_dtype_.value_or(plan_.dtype); }
  [[nodiscard]] const Shape& shape() const { return plan_.shape; }
  [[nodiscard]] int64_t count() const { return plan_.dst_elements; }
  [[nodiscard]] size_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

  // Elements lie in the file as they are read: any piece costs the same, and pieces may be read from several threads.
  [[nodiscard]] bool direct() const { return direct_; }

  // Elements [first, first + count) into `into`. A tensor that is not direct is quick in ascending order only, and for one
  // thread at a time.
  Status read(int64_t first, int64_t count, std::byte* into);

  [[nodiscard]] Status check_unchanged() const { return file_.check_unchanged(); }

 private:
  explicit HostTensor(File file) : file_(std::move(file)) {}
  struct Slab {
    int64_t index, begin, elements;
  };
  void cut_into_slabs();
  [[nodiscard]] Slab slab_at(int64_t element) const;
  Status load_slab(int64_t slab);
  Status read_stored(int64_t first, int64_t count, std::byte* into) const;

  File file_;
  uint64_t offset_ = 0;
  Plan plan_;
  std::optional<DType> original_dtype_;
  size_t element_bytes_ = 1;
  bool direct_ = true, big_endian_ = false;
  // Of a tensor that is not direct.
  PlanPart ordered_;           // the one part, its axes in host order
  std::vector<int64_t> tile_;  // of these axes; empty: the whole tensor is one slab
  size_t cut_axis_ = 0;        // the one that is cut; those before it have one index a slab, those behind it all
  int64_t slab_elements_ = 0;
  int64_t loaded_ = -1;
  std::vector<std::byte> stored_, slab_;
};

}  // namespace msdump
