// ScratchDir: a folder of its own for one test, removed with everything in it at the end. Below $TMPDIR.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace msdump::test {

class ScratchDir {
 public:
  ScratchDir();
  explicit ScratchDir(const std::filesystem::path& below);
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view relative) const { return (path_ / relative).string(); }

  // Writes a file, with the folders above it; its full path. A failure is an exception.
  std::string write(std::string_view relative, std::string_view content) const;
  std::string make_dir(std::string_view relative) const;
  [[nodiscard]] std::string read(std::string_view relative) const;
  [[nodiscard]] bool exists(std::string_view relative) const;

 private:
  std::filesystem::path path_;
};

// Whole files, for tests that have a path and no ScratchDir; a failure is an exception.
void write_bytes(const std::filesystem::path& path, std::string_view content);
[[nodiscard]] std::string read_bytes(const std::filesystem::path& path);

}  // namespace msdump::test
