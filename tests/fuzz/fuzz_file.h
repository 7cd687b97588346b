// FuzzFile: one input as a file that readers open by its path, in memory: a million of them touch no disk. memory_folder():
// a folder, for inputs whose names matter.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

#include "io/file.h"

namespace msdump::fuzz {

// A broken promise is a crash that libFuzzer keeps the input of.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

class FuzzFile {
 public:
  FuzzFile(const uint8_t* data, size_t size) : descriptor_(static_cast<int>(::syscall(SYS_memfd_create, "fuzz", 0U))) {
    require(descriptor_.valid(), "a file in memory can be made");
    for (size_t done = 0; done < size;) {
      const ssize_t put = ::write(descriptor_.get(), data + done, size - done);
      require(put > 0, "a file in memory can be written");
      done += static_cast<size_t>(put);
    }
  }

  [[nodiscard]] File open() const {
    auto file = File::open("/proc/self/fd/" + std::to_string(descriptor_.get()));
    require(file.has_value(), "a regular file can be opened");
    return std::move(*file);
  }

 private:
  Descriptor descriptor_;
};

// A folder of this process alone, for as long as it lives.
inline const std::filesystem::path& memory_folder() {
  static const struct Folder {
    Folder() {
      std::string name = "/dev/shm/msdump-fuzz-XXXXXX";
      require(mkdtemp(name.data()) != nullptr, "a folder in memory can be made");
      path = name;
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::filesystem::path path;
  } kFolder;
  return kFolder.path;
}

inline void require_good_error(const Error& error) {
  require(!error.message.empty(), "an error says something");
  require(error.message.find('\n') == std::string::npos, "an error is one line");
  require(!error.path.empty(), "an error about a file names it");
  require(error.code != ErrorCode::kInternal, "no input causes an internal error");
}

}  // namespace msdump::fuzz
