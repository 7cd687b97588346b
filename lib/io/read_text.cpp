#include "io/read_text.h"

#include <span>

namespace msdump {
namespace {

Status check_size(const File& file, uint64_t limit, std::string_view what) {
  if (file.size() <= limit) return {};
  return fail(make_error(ErrorCode::kTooLarge, "{} of {} bytes; at most {} are read", what, file.size(), limit)
                  .with_path(file.path()));
}

}  // namespace

Result<std::string> read_text(const File& file, uint64_t limit, std::string_view what) {
  MSDUMP_CHECK_OK(check_size(file, limit, what));
  std::string text(static_cast<size_t>(file.size()), '\0');
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

Result<std::string> read_text(const std::string& path, uint64_t limit, std::string_view what) {
  MSDUMP_TRY(const File file, File::open(path));
  return read_text(file, limit, what);
}

Result<LargeText> read_large_text(const File& file, uint64_t limit, std::string_view what) {
  MSDUMP_CHECK_OK(check_size(file, limit, what));
  const auto size = static_cast<size_t>(file.size());
  LargeText text{std::make_unique_for_overwrite<char[]>(size), size};
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(text.bytes.get(), size))));
  return text;
}

}  // namespace msdump
