#include "checkpoint/stored_parameter.h"

#include <algorithm>

#include "base/text.h"

namespace msdump {

void StoredParameter::check_elements(std::string_view word, std::optional<uint64_t> needed, uint64_t file_size) {
  if (dtype == DType::kUndefined) {
    give_up(make_error(ErrorCode::kUnsupportedDtype, "the dtype '{}' is not supported", excerpt(word)));
  } else if (needed != bytes) {
    give_up(make_error(ErrorCode::kShapeMismatch, "{} of {} do not take its {} bytes", describe(shape), name_of(dtype),
                       bytes));
  } else if (offset > file_size || bytes > file_size - offset) {
    give_up(
        make_error(ErrorCode::kTruncated, "needs {} bytes, {} present", bytes, file_size - std::min(offset, file_size))
            .with_offset(offset)
            .with_hint("the file was cut off or is still being written"));
  }
}

}  // namespace msdump
