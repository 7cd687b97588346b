#include "support/gzip.h"

#include <array>
#include <stdexcept>

#include <zlib.h>

namespace msdump::test {

std::string read_maybe_gzipped(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");  // reads plain files as they are
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  std::string bytes;
  std::array<char, 1 << 16> buffer{};
  int count = 0;
  while ((count = gzread(file, buffer.data(), buffer.size())) > 0)
    bytes.append(buffer.data(), static_cast<size_t>(count));
  gzclose(file);
  if (count < 0) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

}  // namespace msdump::test
