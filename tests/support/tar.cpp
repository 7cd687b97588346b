#include "support/tar.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "support/gzip.h"
#include "support/scratch_dir.h"

namespace msdump::test {

namespace fs = std::filesystem;

namespace {

constexpr size_t kBlock = 512;

std::string_view text_at(std::string_view header, size_t offset, size_t size) {
  const std::string_view field = header.substr(offset, size);
  return field.substr(0, field.find('\0'));
}

// The path among records of "LENGTH KEY=VALUE\n"; empty when there is none.
std::string path_in(std::string_view records) {
  while (!records.empty()) {
    const size_t length = std::stoul(std::string(records.substr(0, records.find(' '))));
    if (length == 0 || length > records.size()) throw std::runtime_error("a record of a tar archive is cut");
    const std::string_view record = records.substr(0, length);
    const size_t begin = record.find(' ') + 1, equals = record.find('=');
    if (record.substr(begin, equals - begin) == "path")
      return std::string(record.substr(equals + 1, length - equals - 2));
    records.remove_prefix(length);
  }
  return {};
}

fs::path place_for(const fs::path& into, const std::string& name) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.is_absolute() || *relative.begin() == "..") throw std::runtime_error("outside of the archive: " + name);
  return into / relative;
}

}  // namespace

void unpack_tar(const fs::path& archive, const fs::path& into) {
  const std::string bytes = read_maybe_gzipped(archive);
  std::string_view left = bytes;
  std::string long_name;
  while (left.size() >= kBlock && left[0] != '\0') {
    const std::string_view header = left.substr(0, kBlock);
    const size_t size = std::stoul(std::string(text_at(header, 124, 12)), nullptr, 8);
    const size_t padded = (size + kBlock - 1) / kBlock * kBlock;
    if (padded > left.size() - kBlock) throw std::runtime_error(archive.string() + " is cut");
    const std::string_view content = left.substr(kBlock, size);
    const std::string name = long_name.empty() ? std::string(text_at(header, 0, 100)) : long_name;
    const char type = header[156];
    long_name = type == 'x' ? path_in(content) : std::string();
    if (type == '5') {
      fs::create_directories(place_for(into, name));
    } else if (type == '0') {
      const fs::path place = place_for(into, name);
      fs::create_directories(place.parent_path());
      write_bytes(place, content);
    } else if (type != 'x') {
      throw std::runtime_error("an entry of type " + std::string(1, type) + " in " + archive.string());
    }
    left.remove_prefix(kBlock + padded);
  }
}

}  // namespace msdump::test
