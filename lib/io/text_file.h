// TextFile: a text file that is written in order and appears under its name complete or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/atomic_file.h"

namespace msdump {

class TextFile {
 public:
  // Makes the folder of `path` if it is missing.
  static Result<TextFile> create(const std::string& path);
  Status append(std::string_view text);
  Status commit();

 private:
  explicit TextFile(AtomicFile file) : file_(std::move(file)) {}
  Status flush();

  AtomicFile file_;
  std::string waiting_;
  uint64_t written_ = 0;
};

}  // namespace msdump
