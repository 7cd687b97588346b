#include "io/read_text.h"

#include <span>

namespace msdump {

Result<std::string> read_text(const File& file, uint64_t limit, std::string_view what) {
  if (file.size() > limit) {
    return fail(make_error(ErrorCode::kTooLarge, "{} of {} bytes; at most {} are read", what, file.size(), limit)
                    .with_path(file.path()));
  }
  std::string text(static_cast<size_t>(file.size()), '\0');
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

Result<std::string> read_text(const std::string& path, uint64_t limit, std::string_view what) {
  MSDUMP_TRY(const File file, File::open(path));
  return read_text(file, limit, what);
}

}  // namespace msdump
