// Whose bytes a changed piece of memory holds: a repeated pattern, or those of another tensor of the dump.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/watch/changed_bytes.h"
#include "dump/layouts/stored_tensor.h"
#include "io/cancel.h"

namespace msdump::check {

// A tensor of the dump, opened, with as many bytes as its elements need: what follows them is padding.
struct OpenedBytes {
  OpenedFile opened;
  uint64_t bytes = 0;

  static Result<OpenedBytes> open(const CheckedDump& dump, uint32_t tensor);
  [[nodiscard]] const StoredTensor& stored() const { return opened.tensors.front(); }
  [[nodiscard]] StoredBytes view() const { return {opened.file, stored().offset, bytes}; }
};

class ByteOrigin {
 public:
  // Both must outlive it.
  ByteOrigin(const CheckedDump& dump, const std::vector<bool>& snapshots);

  // "zeros", "a repetition of 0000803f", "those of output 0 of mul, from byte 64 on"; empty: of none that was looked at.
  // These are the tensors of `op`, then `others`; at most kMostSearched. A tensor that cannot be read is passed over.
  [[nodiscard]] Result<std::string> of(const OpenedBytes& tensor, const ByteRange& range, uint32_t number,
                                       std::string_view op, const std::vector<uint32_t>& others,
                                       const CancelToken& cancel) const;

 private:
  const CheckedDump& dump_;
  std::map<std::string, std::vector<uint32_t>, std::less<>> by_name_;  // normalised; without snapshots
};
inline constexpr size_t kMostSearched = 16;

}  // namespace msdump::check
