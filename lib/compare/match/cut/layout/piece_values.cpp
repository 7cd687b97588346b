#include "compare/match/cut/layout/piece_values.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "base/hash_slots.h"
#include "compare/pair/tensor_slabs.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump {

PieceValues::PieceValues(const DumpIndex& index, std::span<const TensorRecord* const> records, ReadFailures* failures)
    : tensors_(index), failures_(failures) {
  size_t count = 0;
  for (const TensorRecord* const record : records) {
    ok_ = record != nullptr && record->has_elements && !record->broken && record->shape != nullptr;
    if (!ok_) return;
    shapes_.push_back(*record->shape);
    count += static_cast<size_t>(element_count(shapes_.back()).value_or(kMostKept + 1));
  }
  const bool all = count <= kMostKept;
  for (const TensorRecord* const record : records) {
    const auto opened = tensors_.add(*record);
    if (!opened) {
      forget(opened.error());
      return;
    }
    HostTensor& tensor = **opened;
    if (tensors_.size() == 1) dtype_ = tensor.dtype();
    ok_ = tensor.dtype() == dtype_ && kernels::common_dtype(dtype_, DType::kFloat64) == DType::kFloat64 &&
          element_count(*record->shape) == tensor.count();
    if (!ok_) return;
    if (!all) continue;
    std::vector<std::byte> stored(static_cast<size_t>(tensor.count()) * tensor.element_bytes());
    if (const Status read = tensor.read(0, tensor.count(), stored.data()); !read) {
      forget(read.error());
      return;
    }
    std::vector<double>& kept = kept_.emplace_back(static_cast<size_t>(tensor.count()));
    kernels::widen_to(dtype_, DType::kFloat64, stored.data(), tensor.count(),
                      reinterpret_cast<std::byte*>(kept.data()));
  }
  fetched_.resize(tensors_.size());
}

void PieceValues::forget(const Error& error) {
  ok_ = false;
  if (failures_ != nullptr) failures_->add(error);
}

void PieceValues::fetch(size_t piece, std::vector<int64_t> elements) {
  if (are_kept()) return;
  std::vector<std::pair<int64_t, double>>& known = fetched_[piece];
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  std::erase_if(elements, [&](int64_t element) {
    return std::binary_search(known.begin(), known.end(), std::pair(element, 0.0),
                              [](const auto& x, const auto& y) { return x.first < y.first; });
  });
  if (elements.empty()) return;
  if (fetched_count_ + elements.size() > kMostKept) {
    for (auto& of_piece : fetched_) of_piece.clear();
    fetched_count_ = 0;
  }
  fetched_count_ += elements.size();
  const auto opened = tensors_.open(piece);
  if (!opened) forget(opened.error());
  const auto middle = static_cast<std::ptrdiff_t>(known.size());
  for (const int64_t element : elements) {
    std::array<std::byte, 16> stored{};
    double value = std::numeric_limits<double>::quiet_NaN();
    const Status read = opened ? (*opened)->read(element, 1, stored.data()) : Status();
    if (opened && read)
      kernels::widen_to(dtype_, DType::kFloat64, stored.data(), 1, reinterpret_cast<std::byte*>(&value));
    if (!read) forget(read.error());
    known.emplace_back(element, value);
  }
  std::inplace_merge(known.begin(), known.begin() + middle, known.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
}

double PieceValues::at(size_t piece, int64_t element) {
  if (are_kept()) return kept_[piece][static_cast<size_t>(element)];
  const auto find = [&] {
    const auto& known = fetched_[piece];
    const auto found = std::lower_bound(known.begin(), known.end(), element,
                                        [](const auto& one, int64_t wanted) { return one.first < wanted; });
    return found != known.end() && found->first == element ? &found->second : nullptr;
  };
  if (const double* const value = find()) return *value;
  fetch(piece, {element});
  return *find();
}

Result<std::vector<uint64_t>> PieceValues::digests(const CancelToken& cancel) {
  std::vector<uint64_t> digests;
  for (size_t piece = 0; piece < tensors_.size(); ++piece) {
    MSDUMP_TRY(HostTensor* const tensor, tensors_.open(piece));
    uint64_t digest = 1;
    MSDUMP_CHECK_OK(for_each_slab(*tensor, cancel, [&](std::span<const std::byte> bytes, int64_t) {
      digest = mix_hash(digest, text_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }));
    digests.push_back(digest);
  }
  return digests;
}

}  // namespace msdump
