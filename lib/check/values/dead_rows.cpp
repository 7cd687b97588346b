#include "check/values/dead_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/elements/host_tensor.h"

namespace msdump::check {
namespace {

constexpr int64_t kScanned = int64_t{1} << 18;   // elements
constexpr int64_t kMostRows = int64_t{1} << 26;  // or columns: 8 MiB of flags

// A tensor as rows of `columns` times `inner` elements.
class Scan {
 public:
  Scan(const Shape& shape, int64_t count)
      : columns_(shape[1]),
        row_length_(count / shape[0]),
        inner_(row_length_ / columns_),
        row_lives_(static_cast<size_t>(shape[0])),
        column_lives_(static_cast<size_t>(columns_)) {}

  // Elements [first, first + data.size()); `magnitude` has the bits of one that are not its sign.
  template <class Bits>
  void take(int64_t first, std::span<const Bits> data, Bits magnitude) {
    for (size_t i = 0; i < data.size();) {
      const int64_t at = first + static_cast<int64_t>(i), in_row = at % row_length_;
      const auto length = std::min(static_cast<size_t>(row_length_ - in_row), data.size() - i);
      if (take_run(in_row, data.subspan(i, length), magnitude))
        row_lives_[static_cast<size_t>(at / row_length_)] = true;
      i += length;
    }
  }

  [[nodiscard]] const std::vector<bool>& row_lives() const { return row_lives_; }
  [[nodiscard]] const std::vector<bool>& column_lives() const { return column_lives_; }

 private:
  // Of one row. Is any element not zero?
  template <class Bits>
  bool take_run(int64_t in_row, std::span<const Bits> data, Bits magnitude) {
    bool lives = false;
    auto column = static_cast<size_t>(in_row / inner_);
    int64_t left = inner_ - in_row % inner_;
    for (const Bits bits : data) {
      if ((bits & magnitude) != 0) lives = column_lives_[column] = true;
      if (--left > 0) continue;
      ++column;
      left = inner_;
    }
    return lives;
  }

  int64_t columns_, row_length_, inner_;
  std::vector<bool> row_lives_, column_lives_;
};

template <class Bits>
Status scan(HostTensor& host, const CancelToken& cancel, Scan& into) {
  std::vector<Bits> slab(static_cast<size_t>(std::min(kScanned, host.count())));
  for (int64_t first = 0; first < host.count(); first += kScanned) {
    MSDUMP_CHECK_OK(cancel.check());
    const int64_t count = std::min(kScanned, host.count() - first);
    MSDUMP_CHECK_OK(host.read(first, count, reinterpret_cast<std::byte*>(slab.data())));
    constexpr auto kMagnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
    into.take(first, std::span<const Bits>(slab).first(static_cast<size_t>(count)), kMagnitude);
  }
  return host.check_unchanged();
}

// "0, 7-9, 12, .."
std::string places_text(const std::vector<bool>& lives) {
  constexpr size_t kShown = 4;
  std::string text;
  size_t shown = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i]) continue;
    const size_t first = i;
    while (i + 1 < lives.size() && !lives[i + 1]) ++i;
    if (shown++ == kShown) return text + ", ..";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (i > first) text += fmt::format("-{}", i);
  }
  return text;
}

// A row needs as many zeros as it has elements.
bool may_have_dead_rows(const TensorFacts& facts, const Shape& shape) {
  if (shape.size() < 2 || shape[0] < 2 || shape[1] < 2 || std::max(shape[0], shape[1]) > kMostRows) return false;
  return *facts.zero >= *facts.elements / static_cast<uint64_t>(std::max(shape[0], shape[1]));
}

uint64_t dead(const std::vector<bool>& lives) {
  return static_cast<uint64_t>(std::count(lives.begin(), lives.end(), false));
}

}  // namespace

bool is_embedding_name(std::string_view weight) {
  const std::string name = to_lower(weight);
  constexpr std::array<std::string_view, 4> kWords = {"emb", "wte", "vocab", "lm_head"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

Result<DeadRows> find_dead_rows(const CheckedDump& dump, uint32_t tensor, const TensorFacts& facts,
                                const CancelToken& cancel) {
  if (!is_floating(facts.dtype) || facts.zero.value_or(0) == 0 || facts.zero == facts.elements) return DeadRows{};
  MSDUMP_TRY(HostTensor host, HostTensor::open(dump.index(), dump.record(tensor), {}));
  // What keeps a device format, or has other axes first, has other rows.
  const auto& format = dump.record(tensor).name.format;
  const bool plain = !format || *format == Format::kND || *format == Format::kNCHW;
  const bool same_width = info(host.dtype()).bits == static_cast<int>(host.element_bytes()) * 8;
  if (!plain || !same_width || !may_have_dead_rows(facts, host.shape())) return DeadRows{};
  Scan lives(host.shape(), host.count());
  switch (host.element_bytes()) {
    case 1: MSDUMP_CHECK_OK(scan<uint8_t>(host, cancel, lives)); break;
    case 2: MSDUMP_CHECK_OK(scan<uint16_t>(host, cancel, lives)); break;
    case 4: MSDUMP_CHECK_OK(scan<uint32_t>(host, cancel, lives)); break;
    case 8: MSDUMP_CHECK_OK(scan<uint64_t>(host, cancel, lives)); break;
    default: return DeadRows{};
  }
  return DeadRows{host.shape(), dead(lives.row_lives()), dead(lives.column_lives()), places_text(lives.row_lives()),
                  places_text(lives.column_lives())};
}

}  // namespace msdump::check
