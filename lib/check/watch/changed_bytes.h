// Compares two copies of the same memory byte by byte, as they lie in the files. Reports the changed ranges and the
// bytes that were written there. Each call holds two slabs, whatever the size of the tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "io/run_context.h"

namespace msdump::check {

struct StoredBytes {
  const File& file;
  uint64_t offset = 0, bytes = 0;  // offset + bytes lie inside the file
};

// [begin, end), from the first byte of the tensor.
struct ByteRange {
  uint64_t begin = 0, end = 0;
  [[nodiscard]] uint64_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

struct ChangeUnits {
  uint64_t element = 1;  // bytes
  uint64_t row = 0;      // bytes, all elements of the first index of the shape; 0: rows are not counted
};

struct ChangedBytes {
  uint64_t elements = 0;           // that have another value, by their bytes
  uint64_t ranges = 0;             // an equal piece of less than kJoinedGap bytes does not end a range
  std::vector<ByteRange> first;    // of the ranges, at most kRangesKept
  ByteRange largest;               // the first of the largest
  uint64_t rows = 0;               // with a changed element
  std::vector<ByteRange> in_rows;  // runs of such rows, by number, at most kRangesKept
};
inline constexpr uint64_t kJoinedGap = 64;
inline constexpr size_t kRangesKept = 3;

// Both have the same number of bytes. A rest that is no whole element counts as one.
[[nodiscard]] Result<ChangedBytes> changed_bytes(const StoredBytes& before, const StoredBytes& after,
                                                 const ChangeUnits& units, const CancelToken& cancel);

// If the range repeats one, two, four or eight bytes, at least four times: these, as they lie from the first byte on.
[[nodiscard]] Result<std::optional<std::string>> repeated_bytes(const StoredBytes& tensor, const ByteRange& range,
                                                                const CancelToken& cancel);

// Finds the bytes of a range in another tensor, at any offset: the first place. Gives up after kMostPlaces places that
// begin like the range. Ranges shorter than kLeastSearched occur anywhere by chance and are not searched.
inline constexpr uint64_t kLeastSearched = 16;
inline constexpr size_t kMostPlaces = 64;
[[nodiscard]] Result<std::optional<uint64_t>> find_bytes(const StoredBytes& tensor, const ByteRange& range,
                                                         const StoredBytes& in, const CancelToken& cancel);

}  // namespace msdump::check
