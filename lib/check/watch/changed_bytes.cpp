#include "check/watch/changed_bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace msdump::check {
namespace {

constexpr uint64_t kSlab = uint64_t{1} << 20;  // a multiple of every element's size
constexpr uint64_t kBlock = 4096;
constexpr uint64_t kNeedle = 4096;

Status read(const StoredBytes& tensor, uint64_t at, std::span<std::byte> into) {
  return tensor.file.read_at(tensor.offset + at, into);
}

// Collects changed elements in ascending order.
class Changes {
 public:
  explicit Changes(const ChangeUnits& units) : row_bytes_(units.row) {}

  void add(uint64_t begin, uint64_t end) {
    ++found_.elements;
    if (open_ && begin - range_.end < kJoinedGap) {
      range_.end = end;
    } else {
      close_range();
      range_ = {begin, end};
      open_ = true;
    }
    if (row_bytes_ > 0 && begin >= row_end_) add_row(begin / row_bytes_);
  }

  ChangedBytes finish() {
    close_range();
    return std::move(found_);
  }

 private:
  void add_row(uint64_t row) {
    row_end_ = (row + 1) * row_bytes_;
    ++found_.rows;
    std::vector<ByteRange>& runs = found_.in_rows;
    if (next_row_ == row && run_is_kept_) {
      runs.back().end = row + 1;
    } else if (next_row_ != row || found_.rows == 1) {
      run_is_kept_ = runs.size() < kRangesKept;
      if (run_is_kept_) runs.push_back({row, row + 1});
    }
    next_row_ = row + 1;
  }

  void close_range() {
    if (!open_) return;
    ++found_.ranges;
    if (found_.first.size() < kRangesKept) found_.first.push_back(range_);
    if (range_.size() > found_.largest.size()) found_.largest = range_;
  }

  uint64_t row_bytes_;
  ChangedBytes found_;
  ByteRange range_;
  bool open_ = false, run_is_kept_ = false;
  uint64_t row_end_ = 0, next_row_ = 0;
};

void compare_block(std::span<const std::byte> before, std::span<const std::byte> after, uint64_t at, uint64_t element,
                   Changes& changes) {
  for (uint64_t i = 0; i < before.size(); i += element) {
    const uint64_t size = std::min<uint64_t>(element, before.size() - i);
    if (std::memcmp(&before[i], &after[i], size) != 0) changes.add(at + i, at + i + size);
  }
}

void compare_slab(std::span<const std::byte> before, std::span<const std::byte> after, uint64_t at, uint64_t element,
                  Changes& changes) {
  for (uint64_t i = 0; i < before.size(); i += kBlock) {
    const uint64_t size = std::min(kBlock, before.size() - i);
    if (std::memcmp(&before[i], &after[i], size) != 0)
      compare_block(before.subspan(i, size), after.subspan(i, size), at + i, element, changes);
  }
}

// True if the bytes of the range equal those of `other` from `at` on. The caller checks the size.
Result<bool> is_equal(const StoredBytes& tensor, const ByteRange& range, const StoredBytes& other, uint64_t at,
                      const CancelToken& cancel) {
  std::vector<std::byte> a(std::min(kSlab, range.size())), b(a.size());
  for (uint64_t done = 0; done < range.size(); done += a.size()) {
    MSDUMP_CHECK_OK(cancel.check());
    const uint64_t size = std::min<uint64_t>(a.size(), range.size() - done);
    MSDUMP_CHECK_OK(read(tensor, range.begin + done, std::span(a).first(size)));
    MSDUMP_CHECK_OK(read(other, at + done, std::span(b).first(size)));
    if (std::memcmp(a.data(), b.data(), size) != 0) return false;
  }
  return true;
}

// The shortest of 1, 2, 4, 8 bytes that these eight repeat.
std::string shortest_period(std::string eight) {
  for (const size_t period : {1U, 2U, 4U}) {
    if (eight.compare(period, std::string::npos, eight, 0, eight.size() - period) == 0) return eight.substr(0, period);
  }
  return eight;
}

}  // namespace

Result<ChangedBytes> changed_bytes(const StoredBytes& before, const StoredBytes& after, const ChangeUnits& units,
                                   const CancelToken& cancel) {
  Changes changes(units);
  std::vector<std::byte> a(std::min(kSlab, before.bytes)), b(a.size());
  for (uint64_t at = 0; at < before.bytes; at += a.size()) {
    MSDUMP_CHECK_OK(cancel.check());
    const uint64_t size = std::min<uint64_t>(a.size(), before.bytes - at);
    MSDUMP_CHECK_OK(read(before, at, std::span(a).first(size)));
    MSDUMP_CHECK_OK(read(after, at, std::span(b).first(size)));
    compare_slab(std::span(a).first(size), std::span(b).first(size), at, units.element, changes);
  }
  return changes.finish();
}

Result<std::optional<std::string>> repeated_bytes(const StoredBytes& tensor, const ByteRange& range,
                                                  const CancelToken& cancel) {
  constexpr uint64_t kPeriod = 8;
  if (range.size() < kPeriod) return std::optional<std::string>();
  std::string period(kPeriod, '\0');
  MSDUMP_CHECK_OK(read(tensor, range.begin, std::as_writable_bytes(std::span(period))));
  std::vector<char> slab(std::min(kSlab, range.size()));
  for (uint64_t done = 0; done < range.size(); done += slab.size()) {
    MSDUMP_CHECK_OK(cancel.check());
    const uint64_t size = std::min<uint64_t>(slab.size(), range.size() - done);
    MSDUMP_CHECK_OK(read(tensor, range.begin + done, std::as_writable_bytes(std::span(slab)).first(size)));
    // A slab begins at a multiple of the period.
    const bool starts = std::memcmp(slab.data(), period.data(), std::min(kPeriod, size)) == 0;
    const bool repeats = size <= kPeriod || std::memcmp(slab.data(), slab.data() + kPeriod, size - kPeriod) == 0;
    if (!starts || !repeats) return std::optional<std::string>();
  }
  period = shortest_period(period);
  if (range.size() < 4 * period.size()) return std::optional<std::string>();
  return std::optional(period);
}

Result<std::optional<uint64_t>> find_bytes(const StoredBytes& tensor, const ByteRange& range, const StoredBytes& in,
                                           const CancelToken& cancel) {
  if (range.size() < kLeastSearched || range.size() > in.bytes) return std::optional<uint64_t>();
  std::vector<std::byte> needle(std::min(kNeedle, range.size()));
  MSDUMP_CHECK_OK(read(tensor, range.begin, needle));
  // Slabs overlap, so that a needle on a border is found once.
  const uint64_t last = in.bytes - range.size();
  std::vector<std::byte> slab(std::min(kSlab + needle.size() - 1, in.bytes));
  size_t places = 0;
  for (uint64_t at = 0; at <= last; at += kSlab) {
    MSDUMP_CHECK_OK(cancel.check());
    const uint64_t size = std::min<uint64_t>(slab.size(), in.bytes - at);
    MSDUMP_CHECK_OK(read(in, at, std::span(slab).first(size)));
    for (uint64_t from = 0; from + needle.size() <= size;) {
      const void* const hit = memmem(&slab[from], size - from, needle.data(), needle.size());
      if (hit == nullptr) break;
      const uint64_t place = static_cast<uint64_t>(static_cast<const std::byte*>(hit) - slab.data());
      if (at + place > last || ++places > kMostPlaces) return std::optional<uint64_t>();
      MSDUMP_TRY(const bool same, is_equal(tensor, range, in, at + place, cancel));
      if (same) return std::optional(at + place);
      from = place + 1;
    }
  }
  return std::optional<uint64_t>();
}

}  // namespace msdump::check
