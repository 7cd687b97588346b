// StoredElements: the elements of one tensor in the order of its file, in this machine's byte order. Elements narrower than a
// byte are unpacked to a byte each. Thread-safe, but for those of a global tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "dump/layouts/stored_tensor.h"
#include "format/plan.h"
#include "format/window.h"
#include "io/file.h"

namespace msdump {

class PiecesReader;

class StoredElements {
 public:
  // `offset`: of the first element in the file; `dtype` as it is stored.
  explicit StoredElements(uint64_t offset = 0, DType dtype = DType::kUint8, bool big_endian = false);
  StoredElements(const StoredTensor& tensor, DType dtype);
  // The elements of a global tensor, in C order.
  explicit StoredElements(std::shared_ptr<PiecesReader> assembled);

  [[nodiscard]] size_t element_bytes() const { return bits_ < 8 ? 1 : static_cast<size_t>(bits_ / 8); }
  // Leaves out the first elements, of a byte or more each.
  void skip(int64_t elements) { skipped_ += static_cast<uint64_t>(elements) * element_bytes(); }
  // The number of elements that cost less to read than the system call that skips them.
  [[nodiscard]] int64_t gap() const;

  // Reads elements [first, first + count).
  Status read(const File& file, int64_t first, int64_t count, std::byte* into) const;
  // Reads the runs of a region, in order.
  Status read(const File& file, const Region& region, std::byte* into) const;

 private:
  Status read_bytes(const File& file, uint64_t first, std::span<std::byte> into) const;
  Status read_packed(const File& file, int64_t first, int64_t count, std::byte* into) const;

  uint64_t offset_ = 0, skipped_ = 0;
  std::shared_ptr<const std::vector<FilePiece>> pieces_;  // null: all bytes follow the first
  std::shared_ptr<ZipDataReader> zip_;                    // null: the file has the elements as they are
  std::shared_ptr<PiecesReader> assembled_;               // null: they lie in one file
  DType dtype_ = DType::kUint8;
  int bits_ = 8;           // of an element in the file
  size_t swap_width_ = 0;  // bytes of the numbers in an element that are reversed; 0: none are
};

// Plans how a tensor becomes an array in host order. An array in Fortran order is put into C order; one in device format
// stays in it, with a note.
[[nodiscard]] Result<Plan> plan_stored(const StoredTensor& tensor, std::optional<Format> target);

struct PlannedTensor {
  const File& file;
  StoredElements elements;
  const Plan& plan;
};

// Reads host elements [first, first + count) of a tensor whose elements change places. Besides `into` it needs some MiB,
// for tensors of any size. Thread-safe.
Status read_host_range(const PlannedTensor& tensor, int64_t first, int64_t count, std::byte* into);

}  // namespace msdump
