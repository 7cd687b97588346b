#include "compare/match/cut/layout/piece_values.h"

#include <array>
#include <limits>
#include <string_view>

#include "base/hash_slots.h"
#include "compare/pair/tensor_slabs.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump {

PieceValues::PieceValues(const DumpIndex& index, std::span<const TensorRecord* const> records) {
  int64_t kept = 0;
  for (const TensorRecord* const record : records) {
    const bool readable = record != nullptr && record->has_elements && !record->broken && record->shape != nullptr;
    // What cannot be read is reported when it is compared.
    auto opened = readable ? HostTensor::open(index, *record, {}) : fail(make_error(ErrorCode::kNotFound, ""));
    if (!opened || kernels::common_dtype(opened->dtype(), DType::kFloat64) != DType::kFloat64) {
      ok_ = false;
      return;
    }
    if (tensors_.empty()) dtype_ = opened->dtype();
    ok_ = ok_ && opened->dtype() == dtype_;
    shapes_.push_back(*record->shape);
    ok_ = ok_ && element_count(shapes_.back()) == opened->count();
    kept += opened->count();
    tensors_.push_back(std::move(*opened));
  }
  kept_.resize(tensors_.size());
  if (!ok_ || kept > kMostKept) return;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    std::vector<std::byte> stored(static_cast<size_t>(tensors_[i].count()) * tensors_[i].element_bytes());
    if (!tensors_[i].read(0, tensors_[i].count(), stored.data())) {
      ok_ = false;
      return;
    }
    kept_[i].resize(static_cast<size_t>(tensors_[i].count()));
    kernels::widen_to(dtype_, DType::kFloat64, stored.data(), tensors_[i].count(),
                      reinterpret_cast<std::byte*>(kept_[i].data()));
  }
}

double PieceValues::at(size_t piece, int64_t element) {
  if (!kept_[piece].empty()) return kept_[piece][static_cast<size_t>(element)];
  std::array<std::byte, 16> stored{};
  double value = std::numeric_limits<double>::quiet_NaN();
  if (tensors_[piece].read(element, 1, stored.data()))
    kernels::widen_to(dtype_, DType::kFloat64, stored.data(), 1, reinterpret_cast<std::byte*>(&value));
  return value;
}

Result<std::vector<uint64_t>> PieceValues::digests(const CancelToken& cancel) {
  std::vector<uint64_t> digests;
  for (HostTensor& tensor : tensors_) {
    uint64_t digest = 1;
    MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](std::span<const std::byte> bytes, int64_t) {
      digest = mix_hash(digest, text_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }));
    digests.push_back(digest);
  }
  return digests;
}

}  // namespace msdump
