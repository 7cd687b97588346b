#include "base/error.h"

#include <cerrno>
#include <memory>
#include <set>

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("every code has a word of its own in snake case") {
  std::set<std::string_view> words;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const std::string_view word = code_word(static_cast<ErrorCode>(code));
    CAPTURE(word);
    CHECK_FALSE(word.empty());
    CHECK(words.insert(word).second);
    CHECK(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
  }
}

TEST_CASE("the words that output.md promises") {
  CHECK(code_word(ErrorCode::kNotFound) == "not_found");
  CHECK(code_word(ErrorCode::kTruncated) == "truncated");
  CHECK(code_word(ErrorCode::kTrailingBytes) == "trailing_bytes");
  CHECK(code_word(ErrorCode::kBadProtobuf) == "bad_protobuf");
  CHECK(code_word(ErrorCode::kUnsupportedDtype) == "unsupported_dtype");
  CHECK(code_word(ErrorCode::kChangedWhileReading) == "changed_while_reading");
  CHECK(code_word(ErrorCode::kNotADump) == "not_a_dump");
}

TEST_CASE("an error is built in one expression") {
  const Error error = make_error(ErrorCode::kTruncated, "needs {} bytes, {} present", 8, 3)
                          .with_path("a.bin")
                          .with_tensor("output:0")
                          .with_offset(12)
                          .with_hint("copy it again");
  CHECK(error.message == "needs 8 bytes, 3 present");
  CHECK(error.path == "a.bin");
  CHECK(error.tensor == "output:0");
  CHECK(error.offset == 12U);
  CHECK(error.hint == "copy it again");
}

TEST_CASE("system errors become the codes users see") {
  CHECK(system_error(ENOENT, "open", "p", ErrorCode::kReadFailed).code == ErrorCode::kNotFound);
  CHECK(system_error(ENOTDIR, "open", "p", ErrorCode::kReadFailed).code == ErrorCode::kNotFound);
  CHECK(system_error(ELOOP, "open", "p", ErrorCode::kReadFailed).code == ErrorCode::kNotFound);
  CHECK(system_error(EACCES, "open", "p", ErrorCode::kReadFailed).code == ErrorCode::kPermission);
  CHECK(system_error(EPERM, "open", "p", ErrorCode::kReadFailed).code == ErrorCode::kPermission);
  CHECK(system_error(EIO, "read", "p", ErrorCode::kReadFailed).code == ErrorCode::kReadFailed);
  CHECK(system_error(EIO, "read", "p", ErrorCode::kReadFailed).hint.empty());
  CHECK(system_error(EMFILE, "open", "p", ErrorCode::kReadFailed).hint.find("ulimit -n") != std::string::npos);
  CHECK(system_error(EACCES, "write", "p", ErrorCode::kWriteFailed).code == ErrorCode::kWriteFailed);
  CHECK(system_error(ENOENT, "open", "p", ErrorCode::kReadFailed).message == "cannot open: No such file or directory");
  CHECK(system_error(ENOENT, "open", "a/b", ErrorCode::kReadFailed).path == "a/b");
}

Result<std::unique_ptr<int>> half(int value) {
  if (value % 2 != 0) return fail(ErrorCode::kUsage, "{} is odd", value);
  return std::make_unique<int>(value / 2);
}

Result<int> quarter(int value) {
  MSDUMP_TRY(const std::unique_ptr<int> once, half(value));
  MSDUMP_TRY(const auto twice, half(*once));
  return *twice;
}

Status check_even(int value) {
  MSDUMP_CHECK_OK(half(value));
  return {};
}

TEST_CASE("MSDUMP_TRY hands on the value or the error") {
  CHECK(quarter(12) == 3);
  CHECK(quarter(6).error().message == "3 is odd");
  CHECK(check_even(4));
  CHECK(check_even(5).error().message == "5 is odd");
}

}  // namespace
}  // namespace msdump
