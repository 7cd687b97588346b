#include "checkpoint/stored_parameter.h"

#include <algorithm>

#include "base/text.h"

namespace msdump {

void StoredParameter::check_elements(std::string_view word, std::optional<uint64_t> needed, uint64_t file_size) {
  const FilePiece last = pieces.empty() ? FilePiece{0, offset} : pieces.back();
  const uint64_t bytes_of_last = bytes - last.begin;
  if (dtype == DType::kUndefined) {
    give_up(make_error(ErrorCode::kUnsupportedDtype, "the dtype '{}' is not supported", excerpt(word)));
  } else if (needed != bytes) {
    give_up(make_error(ErrorCode::kShapeMismatch, "{} of {} do not take its {} bytes", describe(shape), name_of(dtype),
                       bytes));
  } else if (last.offset > file_size || bytes_of_last > file_size - last.offset) {
    give_up(make_error(ErrorCode::kTruncated, "needs {} bytes, {} present", bytes,
                       last.begin + file_size - std::min(last.offset, file_size))
                .with_offset(offset)
                .with_hint("the file was cut off or is still being written"));
  }
}

}  // namespace msdump
