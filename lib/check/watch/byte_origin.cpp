#include "check/watch/byte_origin.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/op_name.h"

namespace msdump::check {
namespace {

std::string pattern_text(std::string_view pattern) {
  if (pattern == std::string_view("\0", 1)) return "zeros";
  std::string text = "a repetition of ";
  for (const char byte : pattern) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

bool may_be_same(const std::optional<int64_t>& a, const std::optional<int64_t>& b) { return !a || !b || a == b; }

}  // namespace

Result<OpenedBytes> OpenedBytes::open(const CheckedDump& dump, uint32_t tensor) {
  const TensorRecord& record = dump.record(tensor);
  const IndexedFile& file = dump.index().files()[record.file];
  MSDUMP_TRY(OpenedFile opened, dump.index().open_tensor(file, record.item));
  const StoredTensor& stored = opened.tensors.front();
  if (stored.problem)
    return fail(Error(*stored.problem).with_path(dump.index().path_of(file)).with_tensor(stored.label()));
  uint64_t bytes = stored.bytes;
  if (stored.request.dtype && stored.request.shape) {
    const auto count = element_count(*stored.request.shape);
    const auto needed = count ? bytes_of(*stored.request.dtype, *count) : std::nullopt;
    if (needed) bytes = std::min(bytes, *needed);
  }
  return OpenedBytes{std::move(opened), bytes};
}

ByteOrigin::ByteOrigin(const CheckedDump& dump, const std::vector<bool>& snapshots) : dump_(dump) {
  for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) {
    const TensorRecord& record = dump.record(tensor);
    if (!snapshots[tensor] && record.has_elements && !record.broken)
      by_name_[normalised_op_name(record.name.op_name)].push_back(tensor);
  }
}

Result<std::string> ByteOrigin::of(const OpenedBytes& tensor, const ByteRange& range, uint32_t number,
                                   std::string_view op, const std::vector<uint32_t>& others,
                                   const CancelToken& cancel) const {
  MSDUMP_TRY(const auto pattern, repeated_bytes(tensor.view(), range, cancel));
  if (pattern) return pattern_text(*pattern);
  std::vector<uint32_t> searched;
  const Identity here = dump_.identity(number);
  if (const auto found = by_name_.find(normalised_op_name(op)); found != by_name_.end()) {
    for (const uint32_t one : found->second) {
      const Identity there = dump_.identity(one);
      if (may_be_same(there.rank, here.rank) && may_be_same(there.step, here.step)) searched.push_back(one);
    }
  }
  searched.insert(searched.end(), others.begin(), others.end());
  for (size_t i = 0; i < std::min(searched.size(), kMostSearched); ++i) {
    const auto other = OpenedBytes::open(dump_, searched[i]);
    if (!other) continue;
    MSDUMP_TRY(const auto place, find_bytes(tensor.view(), range, other->view(), cancel));
    if (!place) continue;
    const NameFacts& name = dump_.record(searched[i]).name;
    return fmt::format("those of {} {} of {}{}", name_of(name.io), name.slot, name.op_name,
                       *place == 0 ? "" : fmt::format(", from byte {} on", *place));
  }
  return std::string();
}

}  // namespace msdump::check
