// Errors are values.
//
// Every function that an input can make fail returns Result<T>. The codes are the stable words of the machine output
// ("failures[].code"); scripts rely on them, so a code is never renamed. A message has the expectation and the finding; path,
// tensor and offset are its position; the hint tells the user how to proceed.
//
// Asserts are for bugs of msdump only. The caller of a third-party library turns its exceptions into values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <tl/expected.hpp>

namespace msdump {

enum class ErrorCode : uint8_t {
  kNotFound,
  kPermission,
  kTruncated,
  kTrailingBytes,
  kBadHeader,
  kBadProtobuf,
  kBadNpy,
  kBadCsv,
  kBadJson,
  kBadIr,
  kUnsupportedDtype,
  kUnsupportedFormat,
  kShapeMismatch,
  kTooLarge,
  kUnsafeName,
  kWriteFailed,
  kChangedWhileReading,
  kNotADump,
  kNothingCompared,  // diff: no tensor has a counterpart on the other side to compare with
  kEmptySelection,   // the user's selection matches nothing: an answer, not a fault of an input
  kReadFailed,       // the system refused a read for another reason (I/O error, special file)
  kUsage,            // the request cannot be carried out; never about the content of an input
  kCancelled,        // SIGINT or SIGTERM
  kInternal,         // our own bug
};

// The word that machine output prints: "truncated", "bad_header", ...
std::string_view code_word(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;             // one line, no trailing full stop, no path
  std::string path;                // the file; empty if the error is not about a file
  std::string tensor;              // "output:0"; empty if the error is about the whole file
  std::optional<uint64_t> offset;  // byte offset in the file
  std::string hint;

  // The `with_` functions return the error itself, so that calls can be chained.
  Error&& with_path(std::string value) &&;
  Error&& with_tensor(std::string value) &&;
  Error&& with_offset(uint64_t value) &&;
  Error&& with_hint(std::string value) &&;
};

template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

template <class... Args>
[[nodiscard]] Error make_error(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  Error error;
  error.code = code;
  error.message = fmt::format(text, std::forward<Args>(args)...);
  return error;
}

// return fail(ErrorCode::kBadNpy, "version {} is not known", major);
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected<Error>(make_error(code, text, std::forward<Args>(args)...));
}

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// The same result; an error gets the path of the file.
template <class T>
[[nodiscard]] Result<T> in_file(Result<T> result, const std::string& path) {
  if (!result) result.error().path = path;
  return result;
}

// The error of a failed system call on a path. `what` names the attempt ("open", "create the directory"). An errno without
// a code of its own (ENOENT and EACCES have one) becomes `fallback`.
[[nodiscard]] Error system_error(int errno_value, std::string_view what, std::string path, ErrorCode fallback);

}  // namespace msdump

#define MSDUMP_CONCAT_INNER(a, b) a##b
#define MSDUMP_CONCAT(a, b) MSDUMP_CONCAT_INNER(a, b)

// MSDUMP_TRY(auto header, read_header(file)): the value, or return the error to the caller.
#define MSDUMP_TRY(declaration, expression) \
  MSDUMP_TRY_IMPL(MSDUMP_CONCAT(msdump_try_, __LINE__), declaration, expression)
#define MSDUMP_TRY_IMPL(temporary, declaration, expression) \
  auto temporary = (expression); \
  if (!temporary) return ::msdump::fail(std::move(temporary).error()); \
  declaration = std::move(temporary).value()

// MSDUMP_CHECK_OK(write_header(out)): return the error to the caller, if any.
#define MSDUMP_CHECK_OK(expression) \
  do { \
    auto msdump_status = (expression); \
    if (!msdump_status) return ::msdump::fail(std::move(msdump_status).error()); \
  } while (false)
