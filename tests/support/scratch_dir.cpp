#include "support/scratch_dir.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace msdump::test {

namespace fs = std::filesystem;

ScratchDir::ScratchDir() : ScratchDir(fs::temp_directory_path()) {}

ScratchDir::ScratchDir(const fs::path& below) {
  std::string name = (below / "msdump-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder below " + below.string());
  path_ = name;
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;  // a folder a test has made unreadable
  fs::remove_all(path_, ignored);
}

std::string ScratchDir::write(std::string_view relative, std::string_view content) const {
  const fs::path path = path_ / relative;
  fs::create_directories(path.parent_path());
  write_bytes(path, content);
  return path.string();
}

std::string ScratchDir::make_dir(std::string_view relative) const {
  const fs::path path = path_ / relative;
  fs::create_directories(path);
  return path.string();
}

std::string ScratchDir::read(std::string_view relative) const { return read_bytes(path_ / relative); }

bool ScratchDir::exists(std::string_view relative) const { return fs::exists(fs::symlink_status(path_ / relative)); }

void write_bytes(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace msdump::test
