// Stands in for libFuzzer where the compiler has none: runs a fuzz target once on the empty input and once on each file
// of the folders (or files) given.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;

void replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::cout << path.string() << std::endl;  // flushed: a crash is in the file named last
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerTestOneInput(nullptr, 0);
  size_t inputs = 1;
  for (int index = 1; index < argc; ++index) {
    const fs::path given = argv[index];
    if (fs::is_regular_file(given)) {
      replay(given);
      ++inputs;
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(given)) {
      if (!entry.is_regular_file()) continue;
      replay(entry.path());
      ++inputs;
    }
  }
  std::cout << inputs << " inputs replayed\n";
  return 0;
}
