#include "io/text_file.h"

#include <utility>

namespace msdump {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;

}  // namespace

Result<TextFile> TextFile::create(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) MSDUMP_CHECK_OK(make_directories(path.substr(0, slash)));
  MSDUMP_TRY(AtomicFile file, AtomicFile::create(path));
  return TextFile(std::move(file));
}

Status TextFile::append(std::string_view text) {
  waiting_ += text;
  return waiting_.size() < kFlushBytes ? Status() : flush();
}

Status TextFile::flush() {
  MSDUMP_CHECK_OK(file_.write_at(written_, std::as_bytes(std::span(waiting_))));
  written_ += waiting_.size();
  waiting_.clear();
  return {};
}

Status TextFile::commit() {
  MSDUMP_CHECK_OK(flush());
  return file_.commit();
}

}  // namespace msdump
