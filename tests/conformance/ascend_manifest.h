// The answers that come with the Ascend dump files of the conformance data (corpus/README.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msdump::test {

struct ExpectedTensor {
  std::string file, tensor;  // "nz/MatMul....", "output:0"
  std::string policy;        // "nchw", "passthrough", "raw"
  std::string name, stored;  // of the .npy: as it should be called, and where the right one lies
  std::string dtype;         // numpy's word
  std::vector<int64_t> shape;
  std::string sha256;  // of the elements in C order

  // Where convert puts it, relative to OUT. Names that are too long are stored under their hash.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] bool is_hashed() const;
};

struct BadFile {
  std::string file, good_message;
};

struct AscendManifest {
  std::vector<ExpectedTensor> tensors;
  std::vector<BadFile> bad;
};

[[nodiscard]] AscendManifest read_ascend_manifest(const std::filesystem::path& folder);

[[nodiscard]] std::string sha256_of(std::string_view bytes);  // hexadecimal

}  // namespace msdump::test
