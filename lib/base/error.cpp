#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace msdump {

std::string_view code_word(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kPermission: return "permission";
    case ErrorCode::kTruncated: return "truncated";
    case ErrorCode::kTrailingBytes: return "trailing_bytes";
    case ErrorCode::kBadHeader: return "bad_header";
    case ErrorCode::kBadProtobuf: return "bad_protobuf";
    case ErrorCode::kBadNpy: return "bad_npy";
    case ErrorCode::kBadCsv: return "bad_csv";
    case ErrorCode::kBadJson: return "bad_json";
    case ErrorCode::kBadIr: return "bad_ir";
    case ErrorCode::kUnsupportedDtype: return "unsupported_dtype";
    case ErrorCode::kUnsupportedFormat: return "unsupported_format";
    case ErrorCode::kShapeMismatch: return "shape_mismatch";
    case ErrorCode::kTooLarge: return "too_large";
    case ErrorCode::kUnsafeName: return "unsafe_name";
    case ErrorCode::kWriteFailed: return "write_failed";
    case ErrorCode::kChangedWhileReading: return "changed_while_reading";
    case ErrorCode::kNotADump: return "not_a_dump";
    case ErrorCode::kNothingCompared: return "nothing_compared";
    case ErrorCode::kEmptySelection: return "empty_selection";
    case ErrorCode::kReadFailed: return "read_failed";
    case ErrorCode::kUsage: return "usage";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kInternal: return "internal";
  }
  return "internal";
}

Error&& Error::with_path(std::string value) && {
  path = std::move(value);
  return std::move(*this);
}

Error&& Error::with_tensor(std::string value) && {
  tensor = std::move(value);
  return std::move(*this);
}

Error&& Error::with_offset(uint64_t value) && {
  offset = value;
  return std::move(*this);
}

Error&& Error::with_hint(std::string value) && {
  hint = std::move(value);
  return std::move(*this);
}

Error system_error(int errno_value, std::string_view what, std::string path, ErrorCode fallback) {
  ErrorCode code = fallback;
  if (errno_value == ENOENT || errno_value == ENOTDIR || errno_value == ELOOP) code = ErrorCode::kNotFound;
  if (errno_value == EACCES || errno_value == EPERM) code = ErrorCode::kPermission;
  // A failed write is always write_failed; the message has the reason.
  if (fallback == ErrorCode::kWriteFailed) code = fallback;
  const bool too_many = errno_value == EMFILE || errno_value == ENFILE;
  return make_error(code, "cannot {}: {}", what, std::generic_category().message(errno_value))
      .with_path(std::move(path))
      .with_hint(too_many ? "the limit of open files is too low (ulimit -n)" : "");
}

}  // namespace msdump
